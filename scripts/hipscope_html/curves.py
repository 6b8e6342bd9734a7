"""A plot's curves as SVG. The tooltips of report.js read what stands in data attributes."""

from __future__ import annotations

from hipscope_report import formats
from hipscope_report.series import BYTE_UNITS, joined, wants_decades

from . import html_text, scales
from .lines import Line, Plot
from .scales import Scale

WIDTH, HEIGHT = 560, 300
LEFT, RIGHT, TOP, BOTTOM = 62, 16, 12, 30
# With more points than this a joined curve has no markers: they would hide it.
MARKED_POINTS = 60
# Between the ends of an axis and the outermost values, unless the axis begins with zero.
PADDING = 8
# A tick's text needs so much room on either side of it, in units of the picture.
TICK_MARGIN = 34


def _x_scale(plot: Plot) -> Scale:
    axis = plot.sweep["axis"]
    positions = [point.x for line in plot.lines for point in line.points]
    if axis["scale"] == "logarithmic" and min(positions) > 0 and max(positions) > min(positions):
        return scales.octaves(positions, "B" if axis["unit"] in BYTE_UNITS else "")
    return scales.linear(positions, from_zero=False)


def _y_scale(plot: Plot) -> Scale:
    if wants_decades(plot.sweep, plot.values):
        return scales.decades(plot.values)
    return scales.linear(plot.values, from_zero=True)


def _coordinate(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


class _Picture:
    """Places values on the picture."""

    def __init__(self, plot: Plot) -> None:
        self.plot, self.x_scale, self.y_scale = plot, _x_scale(plot), _y_scale(plot)
        self.bottom = HEIGHT - BOTTOM - (0 if self.y_scale.begins_with_zero else PADDING)

    def x(self, value: float) -> str:
        """A place on the x axis."""
        return _coordinate(LEFT + PADDING + self.x_scale.place(value) * (WIDTH - LEFT - RIGHT - 2 * PADDING))

    def y(self, value: float) -> str:
        """A place on the y axis."""
        return _coordinate(self.bottom - self.y_scale.place(value) * (self.bottom - TOP - PADDING))

    def path(self, points: list[tuple[float, float]]) -> str:
        """The points as a path."""
        return "M" + "L".join(f"{self.x(x)} {self.y(y)}" for x, y in points)

    def grid(self) -> str:
        """The lines and numbers of both axes."""
        lines, texts = [], []
        for value, name in self.y_scale.ticks:
            y = self.y(value)
            lines.append(f"M{LEFT} {y}H{WIDTH - RIGHT}")
            texts.append(f"<text class=ty x={LEFT - 7} y={y}>{html_text.text(name)}</text>")
        for value, name in self.x_scale.ticks:
            x = self.x(value)
            lines.append(f"M{x} {HEIGHT - BOTTOM}v5")
            texts.append(f"<text class=tx x={min(float(x), WIDTH - TICK_MARGIN):g} y={HEIGHT - BOTTOM + 20}>"
                         f"{html_text.text(name)}</text>")
        base = f'<path class=base d="M{LEFT} {HEIGHT - BOTTOM}H{WIDTH - RIGHT}"/>'
        return f'<path class=grid d="{"".join(lines)}"/>{base}{"".join(texts)}'

    def marks(self) -> str:
        """The places that inferences found on the x axis, as far as the curves reach."""
        drawn = []
        positions = [point.x for line in self.plot.lines for point in line.points]
        # The names of several devices' places would cover each other.
        named = len({source.number for source, _ in self.plot.marks}) == 1
        for source, mark in self.plot.marks:
            if min(positions) <= mark.x <= max(positions):
                x = self.x(mark.x)
                name = html_text.text(mark.name)
                text = f'<text transform="translate({float(x) - 4:g} {TOP + 2})rotate(-90)">{name}</text>'
                drawn.append(f'<g class="mark {source.mark}"><title>{name}</title>'
                             f'<path d="M{x} {TOP}V{HEIGHT - BOTTOM}"/>{text if named else ""}</g>')
        return "".join(drawn)

    def line(self, line: Line) -> str:
        """A curve with its markers, and for the tooltip each point's row and value."""
        points = sorted(line.points, key=lambda point: point.x)
        places = [(point.x, point.y) for point in points]
        curve = joined([(point.x, point.y) for point in line.points])
        kinds = "p" if len(points) <= MARKED_POINTS else "p small" if curve != places else ""
        if curve == places:
            kinds = f"l {kinds}".strip()
        drawn = f'<path class="{kinds}" d="{self.path(places)}"/>'
        if curve and curve != places:
            drawn = f'<path class=l d="{self.path(curve)}"/>{drawn}'
        said = "\n".join(f"{html_text.text(point.label)}\t{formats.number(point.y)}" for point in points)
        kind = f"curve {line.source.mark} {self.plot.kind(line)}".strip()
        return (f'<g class="{kind}" data-name="{html_text.text(line.name)}" data-said="{said}">'
                f"{drawn}</g>")


def draw(plot: Plot) -> str:
    """The plot as an SVG element."""
    picture = _Picture(plot)
    title = html_text.heading(plot.sweep["headline"], plot.unit)
    axis = html_text.text(plot.sweep["axis"]["name"])
    names = ", ".join(html_text.text(line.name) for line in plot.lines)
    lines = "\n".join(picture.line(line) for line in reversed(plot.lines))
    return (f'<svg class=plot viewBox="0 0 {WIDTH} {HEIGHT}" role=img tabindex=0 data-unit="'
            f'{html_text.text(plot.unit)}" aria-label="{title} over {axis}: {names}. The values stand in the '
            f'table below.">\n{picture.grid()}{picture.marks()}\n{lines}\n</svg>')
