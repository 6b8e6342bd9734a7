'use strict';
// The switches work by the style sheet alone; this adds the tooltips and the choice between light and dark.
const tip = document.getElementById('tip');
const spot = document.createElementNS('http://www.w3.org/2000/svg', 'circle');
spot.setAttribute('class', 'spot');
spot.setAttribute('r', '7');

// The points of a plot's curves that are shown: their places, and what each says.
function pointsOf(plot) {
  const points = [];
  for (const curve of plot.querySelectorAll('.curve')) {
    if (getComputedStyle(curve).display === 'none') continue;
    const numbers = curve.querySelector('.p, :scope > path:last-child').getAttribute('d').match(/-?[\d.]+/g).map(Number);
    curve.dataset.said.split('\n').forEach((said, index) => {
      const [label, value] = said.split('\t');
      points.push({ x: numbers[2 * index], y: numbers[2 * index + 1], label, value, name: curve.dataset.name });
    });
  }
  return points;
}

function line(name, value) {
  const paragraph = document.createElement('p');
  paragraph.append(name);
  if (value) paragraph.appendChild(document.createElement('b')).textContent = value;
  return paragraph;
}

// Shows a point with what the other curves have in the same row.
function show(plot, points, point) {
  const unit = plot.dataset.unit;
  const rows = points.filter((other) => other.label === point.label).sort((a, b) => a.y - b.y);
  tip.replaceChildren(line(point.label), ...rows.map((row) => line(row.name, `${row.value} ${unit}`.trim())));
  tip.firstChild.style.opacity = '0.75';
  spot.setAttribute('cx', point.x);
  spot.setAttribute('cy', point.y);
  plot.append(spot);
  tip.hidden = false;
  const place = spot.getBoundingClientRect();
  const above = place.top - tip.offsetHeight - 6;
  const left = place.left + place.width / 2 - tip.offsetWidth / 2;
  tip.style.left = `${Math.max(4, Math.min(left, document.documentElement.clientWidth - tip.offsetWidth - 4))}px`;
  // A window that is not high, as of a phone held sideways, may have room for it neither above nor below, and may
  // not show the point itself.
  const lowest = document.documentElement.clientHeight - tip.offsetHeight - 4;
  tip.style.top = `${Math.max(4, Math.min(above > 4 ? above : place.bottom + 6, lowest))}px`;
}

function hide() {
  tip.hidden = true;
  spot.remove();
}

function follow(plot, event) {
  const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(plot.getScreenCTM().inverse());
  const points = pointsOf(plot);
  const distance = (point) => Math.hypot(point.x - place.x, (point.y - place.y) / 2);
  if (points.length) show(plot, points, points.reduce((best, point) => (distance(point) < distance(best) ? point : best)));
}

// The arrow keys go from point to point, from left to right.
function step(plot, event) {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (event.key === 'Escape') hide();
  if (!by) return;
  event.preventDefault();
  const points = pointsOf(plot).sort((a, b) => a.x - b.x || a.y - b.y);
  if (!points.length) return;
  const now = spot.parentNode === plot
    ? points.findIndex((point) => point.x === Number(spot.getAttribute('cx')) && point.y === Number(spot.getAttribute('cy'))) : -1;
  show(plot, points, points[Math.max(0, Math.min(points.length - 1, now + by))]);
}

for (const plot of document.querySelectorAll('.plot')) {
  plot.addEventListener('pointermove', (event) => follow(plot, event));
  plot.addEventListener('pointerdown', (event) => follow(plot, event));
  plot.addEventListener('pointerleave', hide);
  plot.addEventListener('keydown', (event) => step(plot, event));
  plot.addEventListener('blur', hide);
}
document.addEventListener('scroll', hide, { passive: true });

