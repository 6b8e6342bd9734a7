"""The map of the sources: every variant is in it, every row that it names is there, every figure is used once."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import sources_map
import synthetic

# Every variant of the five works, as they number them: V's examples, S's kernels, D's sections, L's steps and
# R's three curves.
VARIANTS = [
    *"1a 1b 1c 1d 2a 2b 2c 2d 2e 3a 3b 4a 5a 6a 6b 6c 6d 7a 7b 7c 8a 9a 9b 10a 11a 12a 13a 13b".split(),
    *"14a 14b 14c 14d".split(),
    *(f"S {kernel}" for kernel in "1 2 3 3.1 3.2 3.3 3.4 3.5 3.6 4 5 6 7 7.1 7.2 7.3 7.4 7.5 7.6 7.7 7.8".split()),
    *(f"S {kernel}" for kernel in "8.1 8.2 8.3 8.4 9 9.1 10".split()),
    *(f"D 3.5.{section}" for section in range(3, 9)),
    *(f"L {step}" for step in range(1, 6)),
    *(f"R {curve}" for curve in range(1, 4)),
]

LINE = (
    "| 1a | 2.1.1 | `thread_rate` `null-1d` `64x1x1` `1024x1x1` | same work | MI25: 16 ... 64 threads/cycle "
    "| 53.80 ... 761 threads/cycle | 14.14 times, 4 on the MI25; 2.00 ms |"
)
SERIES = (
    "| 3a | 2.3 | compiled only | same work | MI25: thread rate 58 threads/cycle (`thread_rate` `2d`) "
    "| - | 58, and v63 |"
)
UNUSED = "| `thread_rate` | `2d` | measured on another card only |"


def row(label: str, value: float, published: float | None = None) -> dict[str, Any]:
    of = {"gpu": "Radeon Instinct MI25", "metric": "thread rate", "unit": "threads/cycle"}
    return {
        "label": label,
        "measurements": [{"name": "time", "median": 0.002}],
        "values": [{"name": "thread rate", "value": value, "unit": "threads/cycle"}],
        "published": [] if published is None else [synthetic.published(published, **of)],
    }


def results() -> dict[str, Any]:
    sweep = {
        "name": "null-1d",
        "headline": "thread rate",
        "rows": [row("64x1x1", 53.8, 16.0), row("1024x1x1", 761.0, 64.0)],
    }
    return {"thread_rate": {"experiment": "thread_rate", "sweeps": [sweep]}}


def figure(series: str, value: str) -> dict[str, str]:
    return {
        "experiment": "thread_rate",
        "series": series,
        "gpu": "Radeon Instinct MI25",
        "metric": "thread rate",
        "value": value,
        "unit": "threads/cycle",
        "note": "",
    }


PUBLISHED = [figure("1d", "16"), figure("1d", "64"), figure("2d", "58")]


def test_a_good_map_has_no_problems() -> None:
    assert sources_map.problems(f"{LINE}\n\n{UNUSED}\n", results(), PUBLISHED) == []


def test_figures_are_filled_in() -> None:
    empty = LINE.replace("MI25: 16 ... 64 threads/cycle", "").replace("53.80 ... 761 threads/cycle", "?")
    assert sources_map.filled(empty, results(), PUBLISHED) == LINE
    assert sources_map.filled(SERIES.replace("58 threads", "59 threads"), results(), PUBLISHED) == SERIES


def test_a_headline_that_is_a_time_has_a_unit() -> None:
    made = results()
    made["thread_rate"]["sweeps"][0]["headline"] = "time"
    assert "| 2.000 ... 2.000 ms |" in sources_map.filled(LINE, made, PUBLISHED)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("53.80", "53.79", "not those of the results"),
        ("MI25: 16", "MI25: 17", "not those of the results"),
        ("`1024x1x1`", "`512x1x1`", "has no row '512x1x1'"),
        ("`null-1d`", "`null-2d`", "has no sweep 'null-2d'"),
        ("`thread_rate` `null", "`threads` `null", "there is no result of threads"),
        (UNUSED, "", "series '2d': beside no row"),
        ("measured on another card only", "none", "series '2d': beside no row"),
        ("`2d`", "`1d`", "series '1d': used, and listed as unused"),
        ("14.14 times", "14.15 times", "1a: no row has the figure 14.15"),
        ("4 on the", "5 on the", "1a: no row has the figure 5"),
        ("2.00 ms", "2.00 us", "1a: no row has the figure 2.00 us"),
    ],
)
def test_a_map_that_is_wrong_is_found(old: str, new: str, what: str) -> None:
    text = f"{LINE}\n\n{UNUSED}\n"
    assert old in text
    assert any(what in problem for problem in sources_map.problems(text.replace(old, new), results(), PUBLISHED))


def test_a_series_beside_no_row_is_told_by_its_line() -> None:
    text = f"{LINE}\n{SERIES}\n"
    assert sources_map.problems(text, results(), PUBLISHED) == []
    for old, new, what in (
        ("| 58, and", "| 57, and", "3a: no row has the figure 57"),
        ("(`thread_rate` `2d`)", "(`thread_rate` `4d`)", "no series '4d'"),
    ):
        assert any(what in problem for problem in sources_map.problems(text.replace(old, new), results(), PUBLISHED))


def test_figures_of_other_variants_need_their_name() -> None:
    other = (
        LINE.replace("| 1a |", "| 1b |").replace(" `1024x1x1`", "").replace(" ... 64 t", " t").replace(" ... 761", "")
    )
    text = f"{LINE}\n{other}\n\n{UNUSED}\n".replace("| 14.14 times, 4 on the MI25; 2.00 ms |", "| 14.14 times `1a` |")
    text = text.replace("| 14.14 times `1a` |", "| blocks |", 1)
    assert sources_map.problems(text, results(), PUBLISHED) == []
    assert any(
        "1b: no row has" in one for one in sources_map.problems(text.replace("`1a`", "it"), results(), PUBLISHED)
    )


def test_a_sweep_with_published_figures_that_the_map_leaves_out_is_found() -> None:
    made = results()
    other = copy.deepcopy(made["thread_rate"]["sweeps"][0])
    other["name"] = "store-1d"
    made["thread_rate"]["sweeps"].append(other)
    wrong = sources_map.problems(f"{LINE}\n\n{UNUSED}\n", made, PUBLISHED)
    assert any("sweep store-1d, has published figures" in problem for problem in wrong)
    assert any("stands beside 2 rows" in problem for problem in wrong)


def test_the_maps_agree_with_the_results() -> None:
    loaded = sources_map.load_results(sources_map.RESULTS)
    published = sources_map.others.read()
    assert len(loaded) > 20 and len(published) > 300
    for path in sources_map.MAPS:
        assert sources_map.problems(path.read_text(encoding="utf-8"), loaded, published) == [], path


@pytest.mark.parametrize("path", sources_map.MAPS, ids=lambda path: path.parent.name)
def test_every_variant_is_in_the_map(path: Any) -> None:
    rows = [line.cells for line in sources_map.lines_of(path.read_text(encoding="utf-8")) if line.cells]
    lines = [row for row in rows if row[0] not in ("---", "variant", "变体")]
    named = [variant.strip() for line in lines for variant in line[0].split(",")]
    assert sorted(named) == sorted(VARIANTS)
    for line in lines:
        assert line[3] and line[6], f"no word on the work or the conclusion: {line[0]}"
