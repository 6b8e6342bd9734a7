"""Hardware cards of synthetic results, for the tests of what is on them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import synthetic
from synthetic import inference

from hipscope.report import card, card_page
from hipscope.results import door, load, shapes

GROUPS = tuple(card.GROUPS)

Json = dict[str, Any]


def add(folder: Path, experiment: str, *inferences: Json, **changes: Any) -> None:
    """Writes a result with these inferences; "thread_rate.wave64" is a variant."""
    data = synthetic.result(experiment.partition(".")[0], inferences=list(inferences), **changes)
    synthetic.write(folder, data, experiment)


def make(folder: Path) -> tuple[Json, str]:
    """The card of a folder's results, valid, and its page; without the plots that report.py makes."""
    results = load.load_folder(folder)
    made = card.make_card(results)
    assert made is not None
    door.check(folder / "card.json", made, shapes.named(load.CARD_SCHEMA))
    return made, card_page.make_card_page(made, results)


def make_by_report(folder: Path) -> tuple[Json, str]:
    """The card that report.py leaves in a folder."""
    done = synthetic.run("report.py", folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return json.loads((folder / "card.json").read_text()), (folder / "card.md").read_text()


def all_parameters(made: Json) -> list[Json]:
    return [one for group in GROUPS for one in made[group]]


def parameter(made: Json, name: str, variant: str = "") -> Json:
    found = [one for one in all_parameters(made) if (one["name"], one["variant"]) == (name, variant)]
    assert len(found) == 1, name
    return found[0]


def rows(page: str, name: str) -> list[str]:
    """The rows of the page's tables that begin with a name."""
    return [line for line in page.splitlines() if line.startswith(f"| {name} |")]


# The parameters that tests look at; all others of the table are 4 cycles.
TOLD = {
    "memory latency": inference("memory latency", 702.0),
    "cache level 1 latency": inference("cache level 1 latency", 35.1),
    "cache level 2 capacity": inference("cache level 2 capacity", 31.0 * 2**20, "bytes", driver=60.0 * 2**20),
    "TLB level 2 reach": inference("TLB level 2 reach", None, "bytes", confidence=0.0),
    "memory read bandwidth": inference("memory read bandwidth", 4680.0, "GB/s"),
    "compute units": inference("compute units", 132.0, "CUs", driver=132.0),
}
NOT_ON_IT = (
    ("memory_latency", "access granularity of stores to memory"),
    ("lds_latency", "shuffle latency"),
    ("matrix_rate", "FP16 sparse matrix rate"),
)


def add_full(folder: Path) -> None:
    """Results of every experiment that the table of the card names, with two levels, and some that it does not name."""
    found: dict[str, list[Json]] = {}
    for experiment, name in (*(pair for entry in card.ENTRIES for pair in entry.inferences), *NOT_ON_IT):
        levels = [name.format(n=n, type="FP8 E4M3", bound=", at least") for n in (1, 2)]
        found.setdefault(experiment, []).extend(TOLD.get(one, inference(one, 4.0)) for one in dict.fromkeys(levels))
    for experiment, inferences in found.items():
        add(folder, experiment, *inferences)
