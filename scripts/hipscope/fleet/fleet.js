'use strict';
// Draws the strips and curves from the columns in the page, by Chart.js, while they are near the view.
const data = JSON.parse(document.getElementById('data').textContent);
const [tip, cohortChoice, search, relative] = ['tip', 'cohort', 'search', 'relative'].map((id) => document.getElementById(id));
// In a column of a strip dots of nearly one value stand on each other.
const COLUMNS = 150;
const LEAST_LEVELS = 12;
const MANY = 2000;

function unpack(text, Type) {
  const bytes = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
  return new Type(bytes.buffer);
}

const node = unpack(data.node, Uint32Array);
const slot = unpack(data.slot, Uint16Array);
const state = unpack(data.state, Uint8Array);
const cohort = unpack(data.cohort, Uint16Array);
const marked = new Set();
const charts = new Map();

const number = (value) => (value === 0 || (Math.abs(value) >= 1e-3 && Math.abs(value) < 1e7)
  ? String(Number(value.toPrecision(5))) : value.toExponential(3));
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const isShown = (gpu) => cohortChoice.value === '-1' || cohort[gpu] === Number(cohortChoice.value);
const isMarked = (gpu) => marked.has(gpu) || (search.value !== '' && data.nodes[node[gpu]].includes(search.value));
const isBad = (gpu) => state[gpu] > 1;

function describe(gpu, said) {
  const name = [data.uuid[gpu], data.pci[gpu]].filter(Boolean).join(', ');
  return [`${data.nodes[node[gpu]]}, GPU ${slot[gpu]}: ${data.states[state[gpu]]}`, name, data.cause[gpu], said].filter(Boolean).join('\n');
}

// The range that shows how the many differ; what lies far outside is drawn at its edge.
function rangeOf(sorted) {
  const at = (part) => sorted[Math.round(part * (sorted.length - 1))];
  const reach = Math.max(8 * (at(0.75) - at(0.25)), 0.002 * Math.abs(at(0.5)));
  const low = Math.max(sorted[0], at(0.5) - reach);
  const high = Math.min(sorted[sorted.length - 1], at(0.5) + reach);
  const margin = 0.04 * (high - low) || Math.abs(low) * 0.01 || 1;
  return { low: low - margin, high: high + margin, median: at(0.5) };
}

function scale(unit, more) {
  return { grid: { color: style('rule') }, border: { color: style('rule') },
    ticks: { color: style('soft'), maxRotation: 0, maxTicksLimit: 6, callback: (value) => `${number(value)} ${unit}` }, ...more };
}

// A dot for each GPU, its value from left to right.
function strip(metric) {
  metric.numbers ??= unpack(metric.values, Float32Array);
  const gpus = [...metric.numbers.keys()].filter((gpu) => !Number.isNaN(metric.numbers[gpu]) && isShown(gpu));
  const { low, high, median } = rangeOf(gpus.map((gpu) => metric.numbers[gpu]).sort((a, b) => a - b));
  // Good ones first, so that the others lie above them.
  gpus.sort((a, b) => (isMarked(a) - isMarked(b)) || (state[a] - state[b]) || a - b);
  const levels = new Map();
  const dots = gpus.map((gpu) => {
    const x = Math.min(high, Math.max(low, metric.numbers[gpu]));
    const column = Math.round(COLUMNS * (x - low) / (high - low));
    levels.set(column, (levels.get(column) ?? -1) + 1);
    return { gpu, x, y: levels.get(column) };
  });
  const top = Math.max(LEAST_LEVELS, ...levels.values());
  const palette = data.states.map(style);
  const colours = gpus.map((gpu) => palette[state[gpu]]);
  const size = gpus.length > MANY ? 1.5 : 2.5;
  const say = ({ raw: { gpu } }) => {
    const part = 100 * metric.numbers[gpu] / median - 100;
    return describe(gpu, `${metric.name}: ${number(metric.numbers[gpu])} ${metric.unit} (${part < 0 ? '' : '+'}${part.toFixed(2)} % of the median)`);
  };
  return { type: 'scatter', say, scales: { x: scale(metric.unit, { min: low, max: high }), y: { display: false, min: -1, max: top + 1 } }, datasets: [
    { data: dots, pointHitRadius: 10, backgroundColor: colours, borderColor: gpus.map((gpu, place) => (isMarked(gpu) ? style('mark') : colours[place])),
      borderWidth: gpus.map((gpu) => (isMarked(gpu) ? 3 : 0)), radius: gpus.map((gpu) => (isBad(gpu) || isMarked(gpu) ? size + 1.5 : size)),
      pointStyle: gpus.map((gpu) => (metric.numbers[gpu] < low || metric.numbers[gpu] > high ? 'triangle' : 'rect')) },
    { data: [{ x: median, y: -1 }, { x: median, y: top + 1 }], showLine: true, borderColor: style('soft'), borderWidth: 1, radius: 0, pointHitRadius: 0 },
  ] };
}

// What most have: of all where there are bands, else of the lines.
function medianOf(plot) {
  if (plot.bandNumbers.length) return plot.bandNumbers[2];
  return plot.xs.map((_, index) => {
    const values = plot.lineNumbers.map((line) => line.values[index]).filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
    return values[Math.floor(values.length / 2)];
  });
}

// Curves over each other: a band of quantiles where there are many, and lines.
function curves(plot) {
  plot.lineNumbers ??= plot.lines.map(([gpu, values]) => ({ gpu, values: unpack(values, Float32Array) }));
  plot.bandNumbers ??= plot.bands.map((values) => unpack(values, Float32Array));
  plot.median ??= medianOf(plot);
  const unit = relative.checked ? '% of the median' : plot.unit;
  const points = (values) => plot.xs.map((x, index) => ({ x, y: relative.checked ? 100 * values[index] / plot.median[index] - 100 : values[index] }));
  const palette = data.states.map(style);
  const datasets = plot.lineNumbers.filter(({ gpu }) => isShown(gpu)).map(({ gpu, values }) => ({ gpu, data: points(values), radius: 0, pointHitRadius: 10,
    order: isMarked(gpu) ? -9 : -state[gpu], borderWidth: isMarked(gpu) ? 2.5 : isBad(gpu) ? 1.75 : 1,
    borderColor: isMarked(gpu) ? style('mark') : isBad(gpu) ? palette[state[gpu]] : `${palette[state[gpu]]}59` }));
  for (const [band, fill, alpha] of cohortChoice.value === '-1' && plot.bandNumbers.length ? [[0, false, ''], [4, '-1', '26'], [1, false, ''], [3, '-1', '40']] : []) {
    datasets.push({ data: points(plot.bandNumbers[band]), fill, backgroundColor: palette[0] + alpha, borderWidth: 0, radius: 0, pointHitRadius: 0, order: 9 });
  }
  const say = ({ dataset: { gpu }, raw: { x, y } }) => describe(gpu, `${number(y)} ${unit} at ${number(x)} ${plot.xUnit}`);
  const type = plot.log && plot.xs.every((x) => x > 0) ? 'logarithmic' : 'linear';
  return { type: 'line', say, datasets, scales: { x: scale(plot.xUnit, { type }), y: scale(relative.checked ? '%' : plot.unit) } };
}

function tell(say, { chart, tooltip }) {
  tip.hidden = !tooltip.opacity;
  if (tip.hidden) return;
  const box = chart.canvas.getBoundingClientRect();
  tip.textContent = say(tooltip.dataPoints[0]);
  tip.style.left = `${Math.min(box.left + tooltip.caretX + 14, window.innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${Math.min(box.top + tooltip.caretY + 14, window.innerHeight - tip.offsetHeight - 8)}px`;
}

function mark(_, [element], { data: { datasets } }) {
  if (!element) return;
  const dataset = datasets[element.datasetIndex];
  const gpu = dataset.gpu ?? dataset.data[element.index].gpu;
  if (!marked.delete(gpu)) marked.add(gpu);
  again();
}

function draw(place) {
  if (charts.has(place)) return;
  const canvas = place.appendChild(document.createElement('canvas'));
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', place.dataset.said);
  const { type, say, datasets, scales } = place.dataset.metric ? strip(data.metrics[place.dataset.metric]) : curves(data.curves[place.dataset.curves]);
  const tooltip = { enabled: false, external: (context) => tell(say, context) };
  charts.set(place, new Chart(canvas, { type, data: { datasets }, options: { scales, animation: false, parsing: false, maintainAspectRatio: false,
    locale: 'en', interaction: { mode: 'nearest', intersect: true }, onClick: mark, plugins: { legend: { display: false }, tooltip } } }));
}

function clear(place) {
  charts.get(place)?.destroy();
  charts.delete(place);
  place.replaceChildren();
}

function again() {
  for (const place of [...charts.keys()]) {
    clear(place);
    draw(place);
  }
}

const observer = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) (isIntersecting ? draw : clear)(target);
}, { rootMargin: '400px' });
document.querySelectorAll('.drawn').forEach((place) => observer.observe(place));
document.querySelector('.choice').addEventListener('submit', (event) => event.preventDefault());
for (const input of [cohortChoice, relative, search]) input.addEventListener('input', again);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', again);
