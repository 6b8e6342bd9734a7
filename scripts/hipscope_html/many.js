'use strict';
// The values stand in the page once, as JSON; what is in view is drawn of them, and taken away when it is far from it.
const SVG = 'http://www.w3.org/2000/svg';
const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM, PADDING] = [560, 300, 62, 16, 12, 30, 8];
// Of bars: the names' part of the width, and a row's height.
const [NAMES, ROW] = [240, 22];
// How many pixels out of view a figure is drawn and taken away again.
const [NEAR, FAR] = [400, 3000];
const tip = document.getElementById('tip');
const chosen = document.getElementById('chosen');
const read = (name) => JSON.parse(document.querySelector(`script[data-name="${name}"]`).textContent);
const groups = read('');
const known = new Map();

function figureOf(place) {
  const name = place.dataset.of;
  if (!known.has(name)) known.set(name, read(name));
  return known.get(name)[place.dataset.number];
}

function make(parent, name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

function html(parent, name, text, kind) {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  if (kind) element.className = kind;
  parent.append(element);
  return element;
}

// A value's part of an axis, from 0 to 1.
function part(axis, value) {
  if (axis.low === axis.high) return 0.5;
  if (axis.log) return Math.log(value / axis.low) / Math.log(axis.high / axis.low);
  return (value - axis.low) / (axis.high - axis.low);
}

const short = (number) => number.toFixed(1);
const said = (number) => String(Number(number.toPrecision(4)));

function median(values) {
  const sorted = values.filter((one) => one !== null).sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length ? (sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2) : null;
}

// By group: the lines of its devices.
function byGroup(figure) {
  const found = new Map();
  for (const line of figure.lines) {
    if (!found.has(line[0])) found.set(line[0], []);
    found.get(line[0]).push(line);
  }
  return found;
}

const middles = (figure, lines) => figure.labels.map((_, row) => median(lines.map((line) => line[2][row])));

function ends(values) {
  const there = values.filter((one) => one !== null);
  return there.length ? [Math.min(...there), Math.max(...there)] : null;
}

const isChosen = (line) => chosen.value === `${line[0]}.${line[1]}`;

function drawCurves(place, figure) {
  const svg = make(place, 'svg', { class: 'plot', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', tabindex: 0,
    'aria-label': `${figure.what} over ${figure.over}. The values stand in the table below.` });
  const bottom = HEIGHT - BOTTOM - (figure.up.low === 0 && !figure.up.log ? 0 : PADDING);
  const x = (value) => LEFT + PADDING + part(figure.across, value) * (WIDTH - LEFT - RIGHT - 2 * PADDING);
  const y = (value) => bottom - part(figure.up, value) * (bottom - TOP - PADDING);
  for (const [value, name] of figure.up.ticks) {
    make(svg, 'path', { class: 'grid', d: `M${LEFT} ${short(y(value))}H${WIDTH - RIGHT}` });
    make(svg, 'text', { class: 'ty', x: LEFT - 7, y: short(y(value)) }, name);
  }
  for (const [value, name] of figure.across.ticks) {
    make(svg, 'path', { class: 'grid', d: `M${short(x(value))} ${HEIGHT - BOTTOM}v5` });
    make(svg, 'text', { class: 'tx', x: Math.min(x(value), WIDTH - 34), y: HEIGHT - BOTTOM + 20 }, name);
  }
  make(svg, 'path', { class: 'base', d: `M${LEFT} ${HEIGHT - BOTTOM}H${WIDTH - RIGHT}` });
  const order = figure.x.map((_, row) => row).sort((a, b) => figure.x[a] - figure.x[b]);
  // A gap where a device has no value.
  const path = (values) => {
    let d = '', pen = 'M';
    for (const row of order) {
      if (values[row] === null) { pen = 'M'; continue; }
      d += `${pen}${short(x(figure.x[row]))} ${short(y(values[row]))}${pen === 'M' ? 'h0' : ''}`;
      pen = 'L';
    }
    return d;
  };
  for (const [number, lines] of byGroup(figure)) {
    const group = make(svg, 'g', { class: `curves g${number}` });
    for (const line of lines) make(group, 'path', { class: 'each', d: path(line[2]) });
    make(group, 'path', { class: 'middle', d: path(middles(figure, lines)) });
  }
  for (const [, values] of figure.published) make(svg, 'path', { class: 'theirs', 'stroke-width': 4, d: path(values) });
  for (const line of figure.lines.filter(isChosen)) make(svg, 'path', { class: `marked g${line[0]}`, d: path(line[2]) });
  svg.addEventListener('pointermove', (event) => point(svg, figure, event, (line, row) => [x(figure.x[row]), y(line[2][row])]));
  svg.addEventListener('pointerleave', () => { tip.hidden = true; });
}

function drawRows(place, figure) {
  const count = new Set(figure.lines.map((line) => line[0])).size;
  const each = ROW * Math.max(1, count);
  const svg = make(place, 'svg', { class: 'plot', viewBox: `0 0 ${2 * WIDTH} ${each * figure.labels.length + 4}`,
    role: 'img', tabindex: 0, 'aria-label': `${figure.what}. The values stand in the table below.` });
  svg.style.maxWidth = 'none';
  const x = (value) => NAMES + PADDING + part(figure.up, value) * (2 * WIDTH - NAMES - 2 * PADDING);
  const found = [...byGroup(figure)];
  const middle = (line, row) => row * each + ROW * (found.findIndex(([number]) => number === line[0]) + 0.5);
  figure.labels.forEach((label, row) => make(svg, 'text', { class: 'ty', x: NAMES - 8, y: row * each + each / 2 },
    label.length > 34 ? `${label.slice(0, 33)}…` : label));
  for (const [number, lines] of found) {
    const group = make(svg, 'g', { class: `curves g${number}` });
    let dots = '', ranges = '', medians = '';
    figure.labels.forEach((_, row) => {
      const values = lines.map((line) => line[2][row]);
      const range = ends(values);
      if (!range) return;
      const height = middle(lines[0], row);
      for (const value of values) if (value !== null) dots += `M${short(x(value))} ${height}h0`;
      ranges += `M${short(x(range[0]))} ${height}H${short(x(range[1]))}`;
      medians += `M${short(x(median(values)))} ${height - 7}v14`;
    });
    make(group, 'path', { class: 'range', d: ranges });
    make(group, 'path', { class: 'dots', d: dots });
    make(group, 'path', { class: 'middle', d: medians });
  }
  for (const line of figure.lines.filter(isChosen)) {
    make(svg, 'path', { class: `marked dots g${line[0]}`, d: line[2].map((value, row) =>
      (value === null ? '' : `M${short(x(value))} ${middle(line, row)}h0`)).join('') });
  }
  svg.addEventListener('pointermove', (event) => point(svg, figure, event, (line, row) => [x(line[2][row]), middle(line, row)]));
  svg.addEventListener('pointerleave', () => { tip.hidden = true; });
}

const isShown = (number) => document.getElementById(`switch-g${number}`).checked;

// Says what is nearest to the pointer, with its group's median, least and most in that row.
function point(svg, figure, event, at) {
  const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  let best = null, least = Infinity;
  for (const line of figure.lines) {
    if (!isShown(line[0])) continue;
    line[2].forEach((value, row) => {
      if (value === null) return;
      const [x, y] = at(line, row);
      const distance = (x - place.x) ** 2 + (y - place.y) ** 2;
      if (distance < least) [best, least] = [[line, row], distance];
    });
  }
  if (!best) return;
  const [line, row] = best;
  const values = figure.lines.filter((other) => other[0] === line[0]).map((other) => other[2][row]);
  const [low, high] = ends(values);
  const entries = [[figure.labels[row], ''], [groups[line[0]].devices[line[1]], said(line[2][row])],
    ['median', said(median(values))], ['least ... most', `${said(low)} ... ${said(high)}`],
    ...figure.published.filter(([, theirs]) => theirs[row] !== null).map(([name, theirs]) => [name, said(theirs[row])])];
  tip.replaceChildren();
  for (const [name, value] of entries) {
    const paragraph = html(tip, 'p', name);
    if (value) html(paragraph, 'b', `${value} ${figure.unit}`.trim());
  }
  tip.hidden = false;
  const [width, height] = [document.documentElement.clientWidth, document.documentElement.clientHeight];
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, width - tip.offsetWidth - 4))}px`;
  tip.style.top = `${Math.max(4, Math.min(event.clientY + 14, height - tip.offsetHeight - 4))}px`;
}

// A row per point, and per group its median, least and most, with the device that has it.
function fillTable(box, figure) {
  const scroll = html(box, 'div', undefined, 'scroll');
  scroll.tabIndex = 0;
  const table = html(scroll, 'table');
  const head = html(html(table, 'thead'), 'tr');
  const found = [...byGroup(figure)];
  html(head, 'th', figure.over || 'row');
  for (const [number] of found) {
    for (const what of ['median', 'least', 'of', 'most', 'of']) html(head, 'th', what === 'median' ? `${groups[number].name}: median` : what, `g${number}`);
  }
  for (const [name] of figure.published) html(head, 'th', name);
  const rows = html(table, 'tbody');
  figure.labels.forEach((label, row) => {
    const cells = html(rows, 'tr');
    html(cells, 'th', label);
    for (const [number, lines] of found) {
      const range = ends(lines.map((line) => line[2][row]));
      const of = (value) => groups[number].devices[lines.find((line) => line[2][row] === value)[1]];
      const texts = range ? [said(median(lines.map((line) => line[2][row]))), said(range[0]), of(range[0]), said(range[1]), of(range[1])] : ['-', '', '', '', ''];
      for (const text of texts) html(cells, 'td', text, `g${number}`);
    }
    for (const [, values] of figure.published) html(cells, 'td', values[row] === null ? '-' : said(values[row]));
  });
}

function draw(place) {
  if (place.firstChild) return;
  const figure = figureOf(place);
  const axes = html(place, 'p', undefined, 'axes');
  html(axes, 'b', figure.what);
  if (figure.over) axes.append(` over ${figure.over}`);
  (figure.bars ? drawRows : drawCurves)(place, figure);
  const details = html(place, 'details');
  html(details, 'summary', `Table (${figure.labels.length} rows)`);
  details.addEventListener('toggle', () => { if (details.open && !details.querySelector('table')) fillTable(details, figure); });
}

function clear(place) {
  // What a reader has opened stays.
  if (!place.firstChild || place.querySelector('details[open]')) return;
  place.style.minHeight = `${place.offsetHeight}px`;
  place.replaceChildren();
}

const places = [...document.querySelectorAll('.drawn')];
const near = new IntersectionObserver((entries) => entries.forEach((one) => { if (one.isIntersecting) draw(one.target); }), { rootMargin: `${NEAR}px` });
const far = new IntersectionObserver((entries) => entries.forEach((one) => { if (!one.isIntersecting) clear(one.target); }), { rootMargin: `${FAR}px` });
for (const place of places) { near.observe(place); far.observe(place); }
addEventListener('beforeprint', () => places.forEach(draw));
chosen.addEventListener('change', () => places.filter((place) => place.firstChild).forEach((place) => { place.replaceChildren(); draw(place); }));
document.addEventListener('scroll', () => { tip.hidden = true; }, { passive: true });

