"""A sweep's rows as a Markdown table."""

from __future__ import annotations

from typing import Any

from . import markdown

LONGEST_OPEN_TABLE = 40
THROTTLED_MARK = " †"

Column = tuple[str, list[str]]


def _names(rows: list[dict[str, Any]], kind: str) -> list[str]:
    """The names of the rows' measurements or values, in the order of their first appearance."""
    return list(dict.fromkeys(item["name"] for row in rows for item in row[kind]))


def _find(row: dict[str, Any], kind: str, name: str) -> dict[str, Any] | None:
    return next((item for item in row[kind] if item["name"] == name), None)


def _measurement_columns(rows: list[dict[str, Any]]) -> list[Column]:
    columns: list[Column] = []
    for name in _names(rows, "measurements"):
        found = [_find(row, "measurements", name) for row in rows]
        scale, unit = markdown.time_unit([item["median"] for item in found if item])
        medians, spreads = [], []
        for item in found:
            if item is None:
                medians.append(markdown.NOT_THERE)
                spreads.append(markdown.NOT_THERE)
                continue
            mark = THROTTLED_MARK if item["throttled"] else ""
            medians.append(markdown.significant(item["median"] / scale) + mark)
            spreads.append(f"{100 * item['relative_spread']:.1f}")
        columns.append((markdown.heading(name, unit), medians))
        columns.append(("spread (%)", spreads))
    return columns


def _value_columns(rows: list[dict[str, Any]]) -> list[Column]:
    columns: list[Column] = []
    for name in _names(rows, "values"):
        found = [_find(row, "values", name) for row in rows]
        units = {item["unit"] for item in found if item}
        shared_unit = units.pop() if len(units) == 1 else None
        if shared_unit is not None:
            cells = [markdown.number(item["value"] if item else None) for item in found]
            columns.append((markdown.heading(name, shared_unit), cells))
        else:
            cells = [
                markdown.with_unit(item["value"], item["unit"]) if item else markdown.NOT_THERE
                for item in found
            ]
            columns.append((markdown.text(name), cells))
    return columns


def _published_columns(sweep: dict[str, Any]) -> list[Column]:
    rows = sweep["rows"]
    keys = dict.fromkeys(
        (item["gpu"], item["metric"], item["unit"]) for row in rows for item in row["published"]
    )
    columns: list[Column] = []
    for gpu, metric, unit in keys:
        cells = []
        for row in rows:
            values = [
                item["value"]
                for item in row["published"]
                if (item["gpu"], item["metric"], item["unit"]) == (gpu, metric, unit)
            ]
            cells.append(", ".join(markdown.number(value) for value in values) or markdown.NOT_THERE)
        what = unit if metric == sweep["headline"] else f"{metric}, {unit}"
        columns.append((f"{markdown.text(gpu)} (published) ({markdown.text(what)})", cells))
    return columns


def _check_columns(rows: list[dict[str, Any]]) -> list[Column]:
    if not any(row["checks"] for row in rows):
        return []
    return [("checks", [_checks_cell(row["checks"]) for row in rows])]


def _checks_cell(checks: list[dict[str, Any]]) -> str:
    if not checks:
        return markdown.NOT_THERE
    # A check of nothing proves nothing, so it counts as failed.
    wrong = [check for check in checks if check["wrong"] or not check["checked"]]
    if not wrong:
        return f"ok ({sum(check['checked'] for check in checks)})"
    return "; ".join(
        f"**WRONG** {markdown.text(check['what'])}: {check['wrong']} of {check['checked']}"
        for check in wrong
    )


def _footnotes(sweep: dict[str, Any]) -> list[str]:
    notes = []
    if any(item["throttled"] for row in sweep["rows"] for item in row["measurements"]):
        notes.append(
            f"{THROTTLED_MARK.strip()} Some samples ran at a clock more than 2 % under the highest seen."
        )
    sources: dict[tuple[str, str], list[str]] = {}
    for row in sweep["rows"]:
        for item in row["published"]:
            remarks = sources.setdefault((item["gpu"], item["source"]), [])
            if item["note"] and item["note"] not in remarks:
                remarks.append(item["note"])
    for (gpu, source), remarks in sources.items():
        remark = f" ({'; '.join(markdown.text(item) for item in remarks)})" if remarks else ""
        notes.append(f"{markdown.text(gpu)} (published): {markdown.text(source)}{remark}.")
    return notes


def sweep_table(sweep: dict[str, Any]) -> str:
    """The table with its footnotes; folded when it is long."""
    rows = sweep["rows"]
    axis = sweep["axis"]
    columns: list[Column] = [
        (markdown.heading(axis["name"], axis["unit"]), [markdown.text(row["label"]) for row in rows]),
        *_measurement_columns(rows),
        *_value_columns(rows),
        *_published_columns(sweep),
        *_check_columns(rows),
    ]
    header = [name for name, _ in columns]
    body = markdown.table(header, list(zip(*(cells for _, cells in columns))))
    if len(rows) > LONGEST_OPEN_TABLE:
        body = f"<details><summary>The {len(rows)} rows</summary>\n\n{body}\n\n</details>"
    return "\n\n".join([body, *_footnotes(sweep)])
