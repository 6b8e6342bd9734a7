'use strict';
// Draws the strips and curves that are in view from the columns in the page.
const data = JSON.parse(document.getElementById('data').textContent);
const tip = document.getElementById('tip');
const cohortChoice = document.getElementById('cohort');
const search = document.getElementById('search');
const relative = document.getElementById('relative');
const HEIGHT_OF_AXIS = 18;
const REACH = 12;

function unpack(text, Type) {
  const bytes = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
  return new Type(bytes.buffer);
}

const node = unpack(data.node, Uint32Array);
const slot = unpack(data.slot, Uint16Array);
const state = unpack(data.state, Uint8Array);
const cohort = unpack(data.cohort, Uint16Array);
const marked = new Set();
const drawn = new Map();

const number = (value) => (value === 0 || (Math.abs(value) >= 1e-3 && Math.abs(value) < 1e7)
  ? String(Number(value.toPrecision(5))) : value.toExponential(3));

function colours() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(`--${name}`).trim();
  return { states: data.states.map(of), ink: of('ink'), soft: of('soft'), rule: of('rule'), mark: of('mark') };
}

function isShown(gpu) {
  return cohortChoice.value === '-1' || cohort[gpu] === Number(cohortChoice.value);
}

function isMarked(gpu) {
  return marked.has(gpu) || (search.value !== '' && data.nodes[node[gpu]].includes(search.value));
}

function describe(gpu, more) {
  const lines = [`${data.nodes[node[gpu]]}, GPU ${slot[gpu]}: ${data.states[state[gpu]]}`];
  if (data.uuid[gpu] || data.pci[gpu]) lines.push([data.uuid[gpu], data.pci[gpu]].filter(Boolean).join(', '));
  if (data.cause[gpu]) lines.push(data.cause[gpu]);
  return [...lines, ...more].join('\n');
}

// A canvas of as many pixels as the screen has for it.
function prepare(canvas) {
  const scale = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const context = canvas.getContext('2d');
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.font = '11px system-ui, sans-serif';
  return { context, width, height };
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

function drawStrip(canvas) {
  const metric = data.metrics[Number(canvas.dataset.metric)];
  metric.numbers ??= unpack(metric.values, Float32Array);
  const { context, width, height } = prepare(canvas);
  const gpus = [];
  metric.numbers.forEach((value, gpu) => { if (!Number.isNaN(value) && isShown(gpu)) gpus.push(gpu); });
  const dots = [];
  drawn.set(canvas, { dots, say: (dot) => describe(dot.gpu, [`${metric.name}: ${number(metric.numbers[dot.gpu])} ${metric.unit} (${dot.part} of the median)`]) });
  if (!gpus.length) return;
  const range = rangeOf(gpus.map((gpu) => metric.numbers[gpu]).sort((a, b) => a - b));
  const paint = colours();
  const place = (value) => 12 + (width - 24) * Math.min(1, Math.max(0, (value - range.low) / (range.high - range.low)));
  drawAxis(context, range, place, width, height, metric.unit, paint);
  // Good ones first, so that the others lie above them.
  gpus.sort((a, b) => (isMarked(a) - isMarked(b)) || (state[a] - state[b]) || a - b);
  const columns = new Map();
  const size = gpus.length > 2000 ? 3 : 5;
  for (const gpu of gpus) {
    const column = Math.round(place(metric.numbers[gpu]) / size);
    columns.set(column, (columns.get(column) ?? 0) + 1);
  }
  const step = Math.min(size + 1, (height - HEIGHT_OF_AXIS - 12) / Math.max(...columns.values()));
  const used = new Map();
  for (const gpu of gpus) {
    const value = metric.numbers[gpu];
    const column = Math.round(place(value) / size);
    const level = used.get(column) ?? 0;
    used.set(column, level + 1);
    const dot = { gpu, x: column * size, y: height - HEIGHT_OF_AXIS - 6 - level * step,
      part: `${(100 * value / range.median - 100 >= 0 ? '+' : '')}${(100 * value / range.median - 100).toFixed(2)} %` };
    dots.push(dot);
    drawDot(context, dot, size, value < range.low || value > range.high, paint);
  }
}

function drawDot(context, dot, size, isOutside, paint) {
  const grown = state[dot.gpu] > 1 ? size + 2 : size;
  context.fillStyle = paint.states[state[dot.gpu]];
  context.fillRect(dot.x - grown / 2, dot.y - grown / 2, grown, grown);
  if (isOutside) context.fillRect(dot.x - grown, dot.y - 1, 2 * grown, 2);
  if (isMarked(dot.gpu)) {
    context.strokeStyle = paint.mark;
    context.lineWidth = 2;
    context.strokeRect(dot.x - grown, dot.y - grown, 2 * grown, 2 * grown);
  }
}

function drawAxis(context, range, place, width, height, unit, paint) {
  context.strokeStyle = paint.rule;
  context.fillStyle = paint.soft;
  context.lineWidth = 1;
  const base = height - HEIGHT_OF_AXIS;
  context.beginPath();
  context.moveTo(12, base);
  context.lineTo(width - 12, base);
  const middle = place(range.median);
  context.moveTo(middle, 4);
  context.lineTo(middle, base);
  context.stroke();
  context.textAlign = 'left';
  context.fillText(number(range.low), 12, height - 5);
  context.textAlign = 'right';
  context.fillText(`${number(range.high)} ${unit}`, width - 12, height - 5);
  context.textAlign = 'center';
  context.fillText(number(range.median), Math.min(width - 110, Math.max(90, middle)), height - 5);
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
function drawCurves(canvas) {
  const plot = data.curves[Number(canvas.dataset.curves)];
  plot.lineNumbers ??= plot.lines.map(([gpu, values]) => ({ gpu, values: unpack(values, Float32Array) }));
  plot.bandNumbers ??= plot.bands.map((values) => unpack(values, Float32Array));
  const { context, width, height } = prepare(canvas);
  plot.median ??= medianOf(plot);
  const unit = relative.checked ? '% of the median' : plot.unit;
  const shown = (values) => (relative.checked ? values.map((value, index) => 100 * value / plot.median[index] - 100) : values);
  const lines = plot.lineNumbers.filter((line) => isShown(line.gpu)).map((line) => ({ gpu: line.gpu, values: shown(line.values) }));
  const bands = plot.bandNumbers.map(shown);
  const dots = [];
  drawn.set(canvas, { dots, say: (dot) => describe(dot.gpu, [`${number(dot.value)} ${unit} at ${number(plot.xs[dot.index])} ${plot.xUnit}`]) });
  const all = [...lines, ...bands.map((values) => ({ values }))].flatMap((line) => Array.from(line.values)).filter((value) => !Number.isNaN(value));
  if (!all.length) return;
  const isLog = plot.log && plot.xs.every((x) => x > 0);
  const scaled = (x) => (isLog ? Math.log(x) : x);
  const low = all.reduce((a, b) => Math.min(a, b));
  const high = all.reduce((a, b) => Math.max(a, b));
  const first = scaled(plot.xs[0]);
  const last = scaled(plot.xs[plot.xs.length - 1]);
  const across = (index) => 12 + (width - 24) * (scaled(plot.xs[index]) - first) / ((last - first) || 1);
  const up = (value) => height - HEIGHT_OF_AXIS - 4 - (height - HEIGHT_OF_AXIS - 24) * (value - low) / ((high - low) || 1);
  const paint = colours();
  if (bands.length && cohortChoice.value === '-1') drawBands(context, bands, across, up, paint);
  lines.sort((a, b) => (isMarked(a.gpu) - isMarked(b.gpu)) || (state[a.gpu] - state[b.gpu]));
  for (const line of lines) {
    context.strokeStyle = isMarked(line.gpu) ? paint.mark : paint.states[state[line.gpu]];
    context.globalAlpha = isMarked(line.gpu) || state[line.gpu] > 1 ? 1 : 0.35;
    context.lineWidth = isMarked(line.gpu) ? 2.5 : state[line.gpu] > 1 ? 1.75 : 1;
    context.beginPath();
    line.values.forEach((value, index) => {
      if (Number.isNaN(value)) return;
      dots.push({ gpu: line.gpu, index, value, x: across(index), y: up(value) });
      context.lineTo(across(index), up(value));
    });
    context.stroke();
  }
  context.globalAlpha = 1;
  context.fillStyle = paint.soft;
  context.textAlign = 'left';
  context.fillText(`${number(high)} ${unit}`, 12, 12);
  context.fillText(`${number(low)}; from ${number(plot.xs[0])} ${plot.xUnit}`, 12, height - 5);
  context.textAlign = 'right';
  context.fillText(`${plot.x}: ${number(plot.xs[plot.xs.length - 1])} ${plot.xUnit}`, width - 12, height - 5);
}

function drawBands(context, bands, across, up, paint) {
  for (const [below, above, alpha] of [[0, 4, 0.15], [1, 3, 0.25]]) {
    context.globalAlpha = alpha;
    context.fillStyle = paint.states[0];
    context.beginPath();
    bands[above].forEach((value, index) => context.lineTo(across(index), up(value)));
    for (let index = bands[below].length - 1; index >= 0; index -= 1) context.lineTo(across(index), up(bands[below][index]));
    context.fill();
  }
  context.globalAlpha = 1;
}

function draw(canvas) {
  if (canvas.dataset.metric !== undefined) drawStrip(canvas);
  else drawCurves(canvas);
}

for (const [index, plot] of data.curves.entries()) {
  const figure = document.createElement('figure');
  const caption = document.createElement('figcaption');
  caption.appendChild(document.createElement('b')).textContent = plot.name;
  const small = caption.appendChild(document.createElement('small'));
  small.textContent = ` ${plot.count} GPUs${plot.bands.length ? `, ${plot.lines.length} of them as lines, all in bands of 1 to 99 and 25 to 75 %` : ''}`;
  const canvas = document.createElement('canvas');
  canvas.dataset.curves = index;
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', `${plot.name}, of ${plot.count} GPUs`);
  figure.append(caption, canvas);
  document.getElementById('curves').append(figure);
}

const inView = new Set();
const observer = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (entry.isIntersecting) {
      inView.add(entry.target);
      draw(entry.target);
    } else {
      inView.delete(entry.target);
    }
  }
}, { rootMargin: '200px' });

let pending = 0;
function redraw() {
  cancelAnimationFrame(pending);
  pending = requestAnimationFrame(() => inView.forEach(draw));
}

function nearest(canvas, event) {
  const box = canvas.getBoundingClientRect();
  const x = event.clientX - box.left;
  const y = event.clientY - box.top;
  let best = null;
  let distance = REACH * REACH;
  for (const dot of drawn.get(canvas)?.dots ?? []) {
    const squared = (dot.x - x) ** 2 + (dot.y - y) ** 2;
    if (squared <= distance) {
      best = dot;
      distance = squared;
    }
  }
  return best;
}

function point(event) {
  const dot = nearest(event.target, event);
  tip.hidden = !dot;
  if (!dot) return;
  tip.textContent = drawn.get(event.target).say(dot);
  tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${Math.min(event.clientY + 14, window.innerHeight - tip.offsetHeight - 8)}px`;
}

function mark(event) {
  const dot = nearest(event.target, event);
  if (!dot) return;
  if (!marked.delete(dot.gpu)) marked.add(dot.gpu);
  redraw();
}

for (const canvas of document.querySelectorAll('canvas')) {
  observer.observe(canvas);
  canvas.addEventListener('mousemove', point);
  canvas.addEventListener('mouseleave', () => { tip.hidden = true; });
  canvas.addEventListener('click', mark);
}
document.querySelector('.choice').addEventListener('submit', (event) => event.preventDefault());
cohortChoice.addEventListener('change', redraw);
relative.addEventListener('change', redraw);
search.addEventListener('input', redraw);
window.addEventListener('resize', redraw);
window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
