'use strict';
// The values stand in the page once, as JSON; what is in view is drawn of them, by Chart.js, and taken away when it
// is far from it. The switches hide tables by the style sheet alone, and curves here.
const [NEAR, FAR] = ['400px', '3000px'];
const MOST_TICKS = 7;
// With more points than this a curve has no markers: they would hide it.
const MARKED_POINTS = 60;
const DASHES = { published: [5, 3], mark: [2, 3], k0: [8, 3], k1: [2, 2.5], k2: [8, 3, 2, 3], k3: [4, 2], k4: [8, 3, 2, 3, 2, 3] };
const SHAPES = ['circle', 'rect', 'triangle', 'rectRot', 'star'];
const COLOURS = 8;
const charts = new Map();
const known = new Map();
const chosen = document.getElementById('chosen');
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function figureOf({ of, number }) {
  if (!known.has(of)) {
    const { names, figures } = JSON.parse(document.querySelector(`script[data-name="${of}"]`).textContent);
    for (const line of figures.flatMap(({ lines }) => lines)) line[2] = names[line[2]];
    known.set(of, figures);
  }
  return known.get(of)[number];
}

function short(value) {
  const [size, prefix] = [[1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, '']].find(([size]) => Math.abs(value) >= (size === 1e3 ? 1e4 : size)) ?? [1, ''];
  return Math.abs(value) >= 1e12 || (value && Math.abs(value) < 1e-4) ? value.toExponential(0) : Number((value / size).toPrecision(6)) + prefix;
}

function binary(value, unit) {
  const power = Math.max(0, Math.min(4, Math.floor(Math.log2(value) / 10)));
  return value < (unit ? 1024 : 16384) ? `${value}${unit && ` ${unit}`}` : `${Number((value / 1024 ** power).toPrecision(6))} ${['', 'Ki', 'Mi', 'Gi', 'Ti'][power]}${unit}`;
}

const said = (value) => (Number.isInteger(value) && Math.abs(value) < 1e15 ? String(value) : String(Number(value.toPrecision(4))));

// An axis's powers of 2 or of 10, so many that they can be read.
function powers(low, high, base) {
  const [first, last] = [Math.ceil(Math.log(low) / Math.log(base) - 1e-9), Math.floor(Math.log(high) / Math.log(base) + 1e-9)];
  const step = Math.max(1, Math.ceil((last - first) / (MOST_TICKS - 1)));
  const parts = base === 10 && high / low < 100 ? [1, 2, 5] : [1];
  const ticks = [];
  for (let power = first - 1; power <= last; power += step) for (const part of parts) ticks.push(part * base ** power);
  return ticks.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001).map((value) => ({ value }));
}

function scaleOf(axis, more) {
  const scale = { type: axis.log ? 'logarithmic' : 'linear', grid: { color: style('--grid') }, border: { color: style('--soft') },
    ticks: { color: style('--soft'), maxRotation: 0, callback: (value) => (axis.log === 2 ? binary(value, axis.unit) : short(value)) }, ...more };
  if (axis.log) scale.afterBuildTicks = (built) => { built.ticks = powers(built.min, built.max, axis.log); };
  return scale;
}

// What has a switch, in the order of the colours.
const marks = [...document.querySelectorAll('.switches input')].map((one) => one.id.replace('switch-', ''));
const colourOf = (mark) => getComputedStyle(document.querySelector(`.switches .${mark}`)).getPropertyValue('--c').trim();

// A line is [mark, kind, name, value of each row]; its mark is the class of what its switch hides.
const isShown = ([mark]) => document.getElementById(`switch-${mark}`).checked;
const isChosen = ([mark, kind, name]) => kind === 'each' && chosen?.value === `${mark} ${name}`;

function paint(line, count) {
  const [mark, kind] = line;
  const number = marks.indexOf(mark);
  const colour = isChosen(line) ? style('--ink') : colourOf(mark);
  const many = kind === 'each' && !isChosen(line);
  const ground = kind === 'published' ? style('--ground') : colour;
  const dashes = Object.keys(DASHES).find((one) => kind.split(' ').includes(one));
  return { borderColor: many ? `${colour}4d` : colour, backgroundColor: many ? `${colour}4d` : ground, borderDash: DASHES[dashes] ?? [],
    clip: 8, borderWidth: kind === 'middle' ? 2.25 : many ? 1 : 1.75, pointStyle: SHAPES[(number + Math.floor(number / COLOURS)) % SHAPES.length],
    pointRadius: /^$|published/.test(kind) && count <= MARKED_POINTS ? 3.5 : 0, order: isChosen(line) ? -1 : kind === 'middle' ? 0 : kind === 'each' ? 2 : 1 };
}

function curves(figure) {
  const datasets = [];
  const joined = new Set(figure.joined);
  const loose = figure.rows.map((_, row) => row).filter((row) => !joined.has(row));
  for (const line of figure.lines) {
    const points = (rows) => rows.filter((row) => line[3][row] !== null).map((row) => ({ x: figure.x[row], y: line[3][row], row }));
    const through = points(figure.joined), beside = points(loose);
    if (through.length) datasets.push({ line, label: line[2], data: through, ...paint(line, through.length) });
    if (beside.length) datasets.push({ line, label: through.length ? '' : line[2], data: beside, showLine: false, ...paint(line, 0), pointRadius: 2.5 });
  }
  const ends = [...figure.lines.flatMap((line) => line[3]).filter((value) => value !== null)].reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
  for (const [mark, name, x] of figure.marks) {
    const line = [mark, 'mark', name];
    datasets.push({ line, label: name, data: [{ x, y: figure.up.log ? ends[0] : Math.min(0, ends[0]) }, { x, y: ends[1] }], ...paint(line, 0) });
  }
  const xs = figure.x.length ? { min: Math.min(...figure.x), max: Math.max(...figure.x) } : {};
  return { type: 'line', data: { datasets }, scales: { x: scaleOf(figure.across, xs.min < xs.max ? xs : {}), y: scaleOf(figure.up, { beginAtZero: true }) } };
}

function bars(figure) {
  const datasets = figure.lines.map((line) => ({ line, label: line[2], ...paint(line, 0), borderDash: [], borderWidth: line[1] ? 1 : 0, maxBarThickness: 14, minBarLength: 2,
    backgroundColor: colourOf(line[0]) + (line[1] ? '59' : ''), data: line[3].map((x, row) => ({ x, y: row, row })) }));
  const names = { type: 'category', labels: figure.rows, grid: { display: false }, border: { color: style('--soft') },
    ticks: { color: style('--ink'), autoSkip: false, callback: (_, row) => cut(figure.rows[row]) } };
  return { type: 'bar', data: { datasets }, scales: { x: scaleOf(figure.up, { beginAtZero: true }), y: names }, indexAxis: 'y' };
}

// Of many devices: a dot each, and a stroke for their median.
function dots(figure) {
  const there = [...new Set(figure.lines.map(([mark]) => mark))];
  const place = (mark) => (there.indexOf(mark) + 0.5) / there.length - 0.5;
  const datasets = figure.lines.map((line) => ({ line, label: line[2], showLine: false, ...paint(line, 0), pointRadius: line[1] === 'middle' ? 7 : 2.5,
    ...(line[1] === 'middle' ? { pointStyle: 'line', rotation: 90 } : { pointStyle: 'circle' }),
    data: line[3].flatMap((x, row) => (x === null ? [] : [{ x, y: row + place(line[0]), row }])) }));
  const names = { type: 'linear', reverse: true, min: -0.5, max: figure.rows.length - 0.5, grid: { display: false }, border: { color: style('--soft') },
    afterBuildTicks: (built) => { built.ticks = figure.rows.map((_, value) => ({ value })); }, ticks: { color: style('--ink'), autoSkip: false, callback: (row) => cut(figure.rows[row]) } };
  return { type: 'line', data: { datasets }, scales: { x: scaleOf(figure.up, { beginAtZero: true }), y: names } };
}

const isMany = (figure) => figure.lines.some(([, kind]) => kind === 'each');
const cut = (name) => (name.length > 34 ? `${name.slice(0, 33)}…` : name);

// All points that are shown, with their places; nothing is said of marks.
function points(chart) {
  return chart.getSortedVisibleDatasetMetas().flatMap((meta) => meta.data.map((element, index) => ({ element, index, datasetIndex: meta.index,
    line: chart.data.datasets[meta.index].line, row: chart.data.datasets[meta.index].data[index].row })).filter(({ row, element }) => row !== undefined && !Number.isNaN(element.x)));
}

// The point that is nearest, and what the others have in its row; of many devices their median alone.
function rowOf(chart, nearest) {
  const others = points(chart).filter((one) => one.row === nearest.row && one.line !== nearest.line && one.line[1] !== 'each');
  return [nearest, ...others.sort((a, b) => a.element.y - b.element.y)];
}

Chart.Interaction.modes.row = (chart, event) => {
  const place = Chart.helpers.getRelativePosition(event, chart);
  const distance = ({ element }) => Math.hypot(element.x - place.x, (element.y - place.y) / (chart.config.type === 'bar' ? 0.1 : 2));
  const [first, ...rest] = points(chart);
  return first ? rowOf(chart, rest.reduce((best, one) => (distance(one) < distance(best) ? one : best), first)) : [];
};

// A point's line and value; of a median the least and the most of its devices, too.
function tell(figure, { line }, { row }) {
  const text = `${line[2]}: ${said(line[3][row])} ${figure.unit}`.trim();
  if (line[1] !== 'middle') return text;
  const all = figure.lines.filter((one) => one[0] === line[0] && one[1] === 'each' && one[3][row] !== null).map((one) => one[3][row]);
  return [text, `   ${said(Math.min(...all))} ... ${said(Math.max(...all))} ${figure.unit}`.trimEnd()];
}

// A bar's value beside its end.
const values = { id: 'values', afterDatasetsDraw(chart) {
  if (chart.config.type !== 'bar') return;
  chart.ctx.save();
  Object.assign(chart.ctx, { fillStyle: style('--ink'), font: '12px system-ui, sans-serif', textBaseline: 'middle' });
  for (const { element, line, row } of points(chart)) if (line[3][row] !== null) chart.ctx.fillText(said(line[3][row]), element.x + 5, element.y);
  chart.ctx.restore();
} };

function draw(place) {
  if (charts.has(place)) return;
  const figure = figureOf(place.dataset);
  const canvas = document.createElement('canvas');
  canvas.tabIndex = 0;
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', place.dataset.said);
  place.append(canvas);
  const { type, data, scales, indexAxis } = (figure.bars ? (isMany(figure) ? dots : bars) : curves)(figure);
  for (const dataset of data.datasets) dataset.hidden = !isShown(dataset.line);
  const legend = { display: figure.legend !== false && !isMany(figure) && data.datasets.length > 1, position: 'bottom', align: 'start', onClick: () => {}, labels: {
    usePointStyle: true, pointStyleWidth: type === 'bar' ? 12 : 28, boxHeight: 6, generateLabels: () => data.datasets.filter(({ label, hidden }) => label && !hidden)
      .map(({ label, borderColor, borderDash, backgroundColor }) => ({ text: label, fontColor: style('--ink'), strokeStyle: borderColor, fillStyle: backgroundColor,
        lineDash: borderDash, lineWidth: 1.75, pointStyle: type === 'bar' ? 'rect' : 'line' })) } };
  const tooltip = { backgroundColor: style('--ink'), titleColor: style('--ground'), bodyColor: style('--ground'), usePointStyle: true,
    callbacks: { title: ([item]) => figure.rows[item.raw.row], label: (item) => tell(figure, item.dataset, item.raw) } };
  charts.set(place, new Chart(canvas, { type, data, plugins: [values], options: { indexAxis, scales, animation: false, parsing: false,
    normalized: true, maintainAspectRatio: false, locale: 'en', interaction: { mode: 'row', intersect: false }, plugins: { legend, tooltip },
    layout: { padding: { right: type === 'bar' ? 56 : 12 } } } }));
  canvas.addEventListener('keydown', (event) => step(charts.get(place), event));
}

function clear(place) {
  charts.get(place)?.destroy();
  charts.delete(place);
  place.replaceChildren();
}

// The arrow keys go from point to point, from left to right.
function step(chart, event) {
  const by = { ArrowRight: 1, ArrowLeft: -1, Escape: 0 }[event.key];
  if (by === undefined) return;
  event.preventDefault();
  const all = points(chart).sort((a, b) => a.element.x - b.element.x || a.element.y - b.element.y);
  const [now] = chart.tooltip.getActiveElements();
  const at = now ? all.findIndex((one) => one.datasetIndex === now.datasetIndex && one.index === now.index) : -1;
  const next = by && all[Math.max(0, Math.min(all.length - 1, at + by))];
  chart.tooltip.setActiveElements(next ? rowOf(chart, next) : [], next ? { x: next.element.x, y: next.element.y } : { x: 0, y: 0 });
  chart.update();
}

const places = [...document.querySelectorAll('.drawn')];
for (const place of places) place.style.height = `${place.dataset.height}px`;
const seen = (margin, act) => {
  const observer = new IntersectionObserver((entries) => entries.forEach(act), { rootMargin: margin });
  places.forEach((place) => observer.observe(place));
};
seen(NEAR, (entry) => { if (entry.isIntersecting) draw(entry.target); });
seen(FAR, (entry) => { if (!entry.isIntersecting) clear(entry.target); });
const again = () => [...charts.keys()].forEach((place) => { clear(place); draw(place); });
addEventListener('beforeprint', () => places.forEach(draw));
document.querySelector('.switches').addEventListener('change', again);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', again);

if (matchMedia('(max-width: 40rem)').matches) document.querySelector('.contents details').open = false;
