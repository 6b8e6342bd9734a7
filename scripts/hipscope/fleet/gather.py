"""A fleet's GPUs and nodes with what is said of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hipscope.results import door, formats
from hipscope.results.door import BadInput

from . import cohorts, curves, layout, metrics, nodes, verdicts
from .curves import Axis, Curve
from .metrics import Gpu, Metric
from .nodes import Node, Place
from .verdicts import FAIL, PASS, SUSPECT, Verdict

WORDS = {FAIL: "Failed", SUSPECT: "Suspect"}
# How many GPUs a process reads at a time.
CHUNK = 16


@dataclass(frozen=True)
class Read:
    """What a GPU's folder holds; `trouble` says why it cannot be read, or is empty."""

    gpu: Gpu | None = None
    curves: Sequence[Curve] = ()
    trouble: str = ""


def read_gpu(place: Place) -> Read:
    try:
        results = metrics.read(place.folder)
        if not results.all:
            raise BadInput(f"{place.folder} holds no result.")
        again = [metrics.read(folder) for folder in sorted(place.folder.glob(f"{layout.AGAIN}*"))]
    except BadInput as error:
        return Read(trouble=f"its results cannot be read: {error}")
    gpu = metrics.of_results(f"{place.node}/{layout.gpu_name(place.slot)}", place.node, results, again)
    return Read(gpu, curves.collect(results))


def read_all(places: Iterable[Place], jobs: int) -> dict[tuple[str, int], Read]:
    """What many GPUs' folders hold, by node and index; read in several processes unless they are few."""
    places = list(places)
    if jobs == 1 or len(places) <= CHUNK:
        return _by_place(places, map(read_gpu, places))
    with ProcessPoolExecutor(jobs) as pool:
        return _by_place(places, pool.map(read_gpu, places, chunksize=CHUNK))


def _by_place(places: Iterable[Place], read: Iterable[Read]) -> dict[tuple[str, int], Read]:
    """Curves that are comparable share their axis, which has most of their bytes."""
    axes: dict[Axis, Axis] = {}
    found = {}
    for place, one in zip(places, read):
        shared = [replace(curve, axis=axes.setdefault(curve.axis, curve.axis)) for curve in one.curves]
        found[place.node, place.slot] = replace(one, curves=shared)
    return found


@dataclass
class Card:
    """One GPU of the fleet and what is said of it; `gpu` is None where it has no results."""

    node: str
    slot: int
    gpu: Gpu | None
    curves: Sequence[Curve]
    verdict: Verdict

    @property
    def state(self) -> str:
        return self.verdict.status

    @property
    def uuid(self) -> str:
        """Empty where it is not told."""
        return self.gpu.identity.uuid if self.gpu else ""


@dataclass
class Fleet:
    """Everything that the pages and lists are made of."""

    nodes: dict[str, Node]
    cards: list[Card]
    notes: list[str]
    baseline: dict[str, Any]
    cohorts: dict[str, int]
    made: str

    def count(self, state: str) -> int:
        return sum(card.state == state for card in self.cards)

    def nodes_that(self, state: str) -> list[str]:
        return [name for name, node in self.nodes.items() if node.state == state]

    def columns(self) -> Iterator[tuple[str, Metric, list[Metric | None]]]:
        """Of each metric its name, one that is there, and all GPUs' in their order; as the GPU with most has them."""
        fullest = max((card.gpu for card in self.cards if card.gpu), key=lambda gpu: len(gpu.metrics), default=None)
        names = dict.fromkeys(fullest.metrics if fullest else ())
        for card in self.cards:
            names.update(dict.fromkeys(card.gpu.metrics if card.gpu else ()))
        for name in names:
            found = [card.gpu.metrics.get(name) if card.gpu else None for card in self.cards]
            yield name, next(metric for metric in found if metric), found

    def first_tables(self) -> Iterator[tuple[str, list[str], list[list[str]]]]:
        """What is to be told of first, as tables: title (without one it goes on with that before), header, rows."""
        for state, title in WORDS.items():
            yield (
                title,
                ["node", "why"],
                [[node.name, "; ".join(node.reasons[:8])] for node in self.nodes.values() if node.state == state],
            )
            yield (
                "",
                ["node", "GPU", "UUID", "cause", "what is seen"],
                [
                    [
                        card.node,
                        str(card.slot),
                        card.uuid or (card.gpu.identity.slot if card.gpu else ""),
                        card.verdict.cause,
                        "; ".join(card.verdict.sentences[:6]),
                    ]
                    for card in self.cards
                    if card.state == state
                ],
            )
        yield (
            "Settings of a minority",
            ["node", "GPU", "setting"],
            [[card.node, str(card.slot), "; ".join(card.verdict.drift)] for card in self.cards if card.verdict.drift],
        )


def read_baseline(path: Path | None) -> dict[str, Any] | None:
    """What another fleet's fleet.json says of healthy GPUs; raises BadInput."""
    if path is None:
        return None
    baseline: dict[str, Any] = door.read_json(path, layout.FLEET_SCHEMA)["baseline"]
    if not baseline["cohorts"]:
        raise BadInput(f"{path} is of too few GPUs to be a baseline: {cohorts.FEWEST} of one kind are needed.")
    return baseline


def _card(node: Node, slot: int, read: Read, verdict: Verdict | None) -> Card:
    """What the node and the statistics say of one GPU, the worse of both."""
    said = verdict or Verdict(f"{node.name}/{layout.gpu_name(slot)}", FAIL, "")
    trouble = nodes.trouble_of(node, slot) or read.trouble or ("" if read.gpu else "no results")
    if trouble:
        kind, _, rest = trouble.partition(": ")
        said.status = FAIL
        # Wrong values are told by the results, too, and better.
        if said.cause != "wrong values":
            said.cause = "; ".join(filter(None, [kind, said.cause]))
            said.sentences.insert(0, rest or trouble)
    return Card(node.name, slot, read.gpu, read.curves, said)


def gather(known: Mapping[str, Node], read: Mapping[tuple[str, int], Read], baseline: dict[str, Any] | None) -> Fleet:
    """Judges all GPUs and, by them, the nodes."""
    gpus = {place: one.gpu for place, one in read.items() if one.gpu}
    said = dict(zip(gpus, verdicts.judge(list(gpus.values()), baseline)))
    places = sorted(
        {*read, *((name, slot) for name, node in known.items() for slot in node.slots)},
        key=lambda place: (formats.by_number(place[0]), place[1]),
    )
    cards = [_card(known[place[0]], place[1], read.get(place, Read()), said.get(place)) for place in places]
    for card in cards:
        if card.state in (SUSPECT, FAIL):
            known[card.node].worsen(card.state, f"gpu {card.slot}: {card.verdict.cause or card.state}")
        else:
            known[card.node].state = verdicts.worst(known[card.node].state, card.state)
    groups = cohorts.form(list(gpus.values()), baseline)
    others = ", ".join(name for name, node in known.items() if not node.is_expected)
    unexpected = [f"not expected, but there: {others}"] if others else []
    notes = [*_doubled(cards), *unexpected, *_unjudged(groups), *cohorts.notes(groups, baseline)]
    healthy = [card.gpu for card in cards if card.gpu and card.state == PASS]
    sizes = {cohort.name: len(cohort.members) for cohort in groups}
    return Fleet(dict(known), cards, notes, cohorts.baseline_of(healthy), sizes, layout.now())


def _doubled(cards: Sequence[Card]) -> list[str]:
    """GPUs that two nodes say they have."""
    seen: dict[str, list[str]] = {}
    for card in cards:
        if card.uuid:
            seen.setdefault(card.uuid, []).append(card.verdict.key)
    return [f"{uuid} is told of more than one place: {', '.join(keys)}" for uuid, keys in seen.items() if len(keys) > 1]


def _unjudged(groups: Sequence[cohorts.Cohort]) -> list[str]:
    """The cohorts that are too small."""
    return [
        f"{cohort.name}: {layout.counted(len(cohort.members), 'GPU')}, too few to tell how fast is normal; "
        f"it takes {cohorts.FEWEST} of a kind, or a --baseline"
        for cohort in groups
        if not cohort.normal
    ]


def judge_node(folder: Path, record: dict[str, Any], path: Path) -> list[str]:
    """What is wrong with the GPUs of one node, whose file says this, by a baseline; raises BadInput."""
    baseline = read_baseline(path)
    known = {record["node"]: Node(record["node"], record)}
    fleet = gather(known, read_all(nodes.places(folder, known), 1), baseline)
    return [
        f"{layout.gpu_name(card.slot)}: {card.verdict.cause}" for card in fleet.cards if card.state in (SUSPECT, FAIL)
    ]
