"""Prometheus' text format, for the textfile collector of its node exporter."""

from __future__ import annotations

from collections.abc import Iterable


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def line(name: str, value: float, **labels: str | int) -> str:
    """A sample: metric{label="..."} number."""
    inside = ",".join(f'{label}="{_escaped(str(said))}"' for label, said in labels.items())
    return f"{name}{{{inside}}} {value:.10g}" if inside else f"{name} {value:.10g}"


def group(name: str, meaning: str, lines: Iterable[str]) -> str:
    """All samples of a gauge, with what it means."""
    return "\n".join((f"# HELP {name} {meaning}", f"# TYPE {name} gauge", *lines, ""))
