"""Judges a fleet and writes what is to be known of it: for people, for programs and for the site's own engine."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from . import cohorts, expected, layout, nodes, store, verdicts
from .layout import FleetError
from .metrics import Gpu
from .nodes import Node
from .store import Store
from .verdicts import FAIL, PASS, SUSPECT, Verdict

UNJUDGED = nodes.UNJUDGED
CONFIRM_LIST = "confirm.txt"
DIGITS = 6


@dataclass(frozen=True)
class Request:
    """What a report is to be made of, and where it goes."""

    folder: Path
    out: Path
    expect: Path | None
    baseline: Path | None
    jobs: int


@dataclass
class Card:
    """One GPU of the fleet and what is said of it; `gpu` is None where it has no results."""

    node: str
    slot: int
    gpu: Gpu | None
    state: str
    cause: str = ""
    sentences: list[str] = field(default_factory=list)
    verdict: Verdict | None = None

    @property
    def key(self) -> str:
        """What no other GPU of the fleet is called."""
        return f"{self.node}/{layout.gpu_name(self.slot)}"


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
        """How many GPUs have this state."""
        return sum(card.state == state for card in self.cards)

    def nodes_that(self, state: str) -> list[str]:
        """The names of the nodes with this state."""
        return [name for name, node in self.nodes.items() if node.state == state]

    @property
    def metric_names(self) -> list[str]:
        """All metrics of the fleet, in the order of the first GPU that has most."""
        fullest = max((card.gpu for card in self.cards if card.gpu), key=lambda gpu: len(gpu.metrics), default=None)
        names = dict.fromkeys(fullest.metrics if fullest else ())
        for card in self.cards:
            if card.gpu:
                names.update(dict.fromkeys(card.gpu.metrics))
        return list(names)


def read_baseline(path: Path | None) -> dict[str, Any] | None:
    """What another fleet's fleet.json says of healthy GPUs; raises FleetError."""
    if path is None:
        return None
    baseline = layout.read_object(path).get("baseline")
    if not isinstance(baseline, dict) or baseline.get("version") != cohorts.BASELINE_VERSION:
        raise FleetError(f"{path} is no fleet.json that this version can take for a baseline.")
    if not baseline.get("cohorts"):
        raise FleetError(f"{path} is of too few GPUs to be a baseline: {cohorts.FEWEST} of one kind are needed.")
    return baseline


def _judged(gpus: Sequence[Gpu], baseline: dict[str, Any] | None, path: Path | None) -> list[Verdict]:
    try:
        return verdicts.judge(gpus, baseline)
    except (KeyError, TypeError, ValueError) as error:
        if path is None:
            raise
        raise FleetError(f"{path} does not hold a baseline as this version writes it.") from error


def _card(node: Node, slot: int, gpu: Gpu | None, verdict: Verdict | None, unread: str) -> Card:
    """What the node and the statistics say of one GPU, the worse of both."""
    card = Card(node.name, slot, gpu, verdict.status if verdict else FAIL, verdict=verdict)
    if verdict:
        card.cause, card.sentences = verdict.cause, list(verdict.sentences)
    trouble = nodes.trouble_of(node, slot) or unread or ("" if gpu else "no results")
    if trouble:
        kind, _, rest = trouble.partition(": ")
        card.state = FAIL
        # Wrong values are told by the results, too, and better.
        if card.cause != "wrong values":
            card.cause = "; ".join(filter(None, [kind, card.cause]))
            card.sentences.insert(0, rest or trouble)
    return card


def gather(folder: Path, known: Mapping[str, Node], gpus: Mapping[tuple[str, int], Gpu],
           unread: Mapping[tuple[str, int], str], baseline: dict[str, Any] | None, path: Path | None) -> Fleet:
    """Judges all GPUs and, by them, the nodes; raises FleetError."""
    found = _judged(list(gpus.values()), baseline, path)
    said = dict(zip(gpus, found))
    slots = sorted({*gpus, *unread, *((name, slot) for name, node in known.items() for slot in node.slots)},
                   key=lambda key: (nodes.by_number(key[0]), key[1]))
    cards = [_card(known[name], slot, gpus.get((name, slot)), said.get((name, slot)), unread.get((name, slot), ""))
             for name, slot in slots]
    for card in cards:
        if card.state in (SUSPECT, FAIL):
            known[card.node].worsen(card.state, f"gpu {card.slot}: {card.cause or card.state}")
        else:
            known[card.node].state = nodes.worst([known[card.node].state, card.state])
    groups = cohorts.form(list(gpus.values()), baseline)
    notes = [*_doubled(cards), *_unexpected(known), *_unjudged(groups), *cohorts.notes(groups, baseline)]
    healthy = [card.gpu for card in cards if card.gpu and card.state == PASS]
    sizes = {cohort.name: len(cohort.members) for cohort in groups}
    return Fleet(dict(known), cards, notes, cohorts.baseline_of(healthy), sizes, layout.now())


def _doubled(cards: Sequence[Card]) -> list[str]:
    """GPUs that two nodes say they have."""
    seen: dict[str, list[str]] = {}
    for card in cards:
        if card.gpu and card.gpu.identity.uuid:
            seen.setdefault(card.gpu.identity.uuid, []).append(card.key)
    return [f"{uuid} is told of more than one place: {', '.join(keys)}" for uuid, keys in seen.items() if len(keys) > 1]


def _unexpected(known: Mapping[str, Node]) -> list[str]:
    names = [name for name, node in known.items() if not node.is_expected]
    return [f"not expected, but there: {', '.join(names)}"] if names else []


def _unjudged(groups: Sequence[cohorts.Cohort]) -> list[str]:
    """The cohorts that are too small."""
    return [f"{cohort.name}: {layout.counted(len(cohort.members), 'GPU')}, too few to tell how fast is normal; "
            f"it takes {cohorts.FEWEST} of a kind, or a --baseline" for cohort in groups if not cohort.normal]


def rounded(value: float | None) -> float | None:
    """A number with six significant digits."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{DIGITS}g}")


def as_json(fleet: Fleet) -> dict[str, Any]:
    """What fleet.json holds."""
    gpus = []
    for card in fleet.cards:
        entry: dict[str, Any] = {"node": card.node, "slot": card.slot, "state": card.state, "cause": card.cause,
                                 "sentences": card.sentences}
        if card.gpu:
            entry["identity"] = {key: value for key, value in asdict(card.gpu.identity).items() if value != ""}
        if card.verdict:
            entry["cohort"] = card.verdict.cohort
            entry["drift"] = card.verdict.drift
            entry["findings"] = [{"metric": one.metric, "deficit": rounded(one.deficit), "z": rounded(one.z),
                                  "p": rounded(one.p), "value": rounded(one.value), "median": rounded(one.median),
                                  "unit": one.unit, "again": rounded(one.again), "confirmed": one.confirmed}
                                 for one in card.verdict.findings]
        gpus.append(entry)
    return {
        "schema_version": layout.VERSION, "made": fleet.made,
        "counts": {"gpus": {state: fleet.count(state) for state in nodes.STATES},
                   "nodes": {state: len(fleet.nodes_that(state)) for state in nodes.STATES}},
        "notes": fleet.notes, "cohorts": [{"name": name, "gpus": count} for name, count in fleet.cohorts.items()],
        "nodes": [{"name": node.name, "state": node.state, "status": node.status, "tier": node.record.get("tier"),
                   "expected": node.is_expected, "reasons": node.reasons} for node in fleet.nodes.values()],
        "gpus": gpus, "metrics": [_column(fleet, name) for name in fleet.metric_names], "baseline": fleet.baseline,
    }


def _column(fleet: Fleet, name: str) -> dict[str, Any]:
    """A metric of all GPUs, in their order."""
    found = [card.gpu.metrics.get(name) if card.gpu else None for card in fleet.cards]
    first = next(metric for metric in found if metric)
    return {"name": name, "unit": first.unit, "kind": first.kind, "better": first.better,
            "values": [rounded(metric.value) if metric else None for metric in found]}


def write_all(fleet: Fleet, request: Request) -> None:
    """Writes every file, each whole or not at all; raises FleetError."""
    from . import page, prometheus, text

    out = request.out
    for state in nodes.STATES:
        names = fleet.nodes_that(state)
        if names or state != UNJUDGED:
            layout.write_file(out / f"{state}.txt", "".join(f"{name}\n" for name in names).encode())
        else:
            (out / f"{state}.txt").unlink(missing_ok=True)
    again = verdicts.to_measure_again([card.verdict for card in fleet.cards if card.verdict and card.state != FAIL])
    lines = sorted((key.rpartition("/gpu-") for key in again),
                   key=lambda parts: (nodes.by_number(parts[0]), int(parts[2])))
    layout.write_file(out / CONFIRM_LIST, "".join(f"{node} {slot}\n" for node, _, slot in lines).encode())
    layout.write_file(out / "hipscope.prom", prometheus.make(fleet).encode())
    layout.write_file(out / "fleet.md", text.make(fleet).encode())
    layout.write_file(out / "fleet.json", (json.dumps(as_json(fleet), separators=(",", ":")) + "\n").encode())
    with store.open_read_only(out / store.FILE) as base:
        layout.write_file(out / "fleet.html", page.make(fleet, store.load_curves(base)).encode())


def report(request: Request) -> int:
    """Reads, judges and writes; the exit status. Raises FleetError."""
    baseline = read_baseline(request.baseline)
    wanted = expected.read_expected(request.expect) if request.expect else None
    known = nodes.read_nodes(request.folder, wanted)
    layout.make_folder(request.out)
    base = Store(request.out / store.FILE)
    try:
        unread = base.update(list(nodes.places(request.folder, known)), request.jobs)
        gpus = store.load_gpus(base.base)
        fleet = gather(request.folder, known, gpus, unread, baseline, request.baseline)
        base.close()
    except BaseException:
        base.discard()
        raise
    write_all(fleet, request)
    print(_said(fleet, request.out))
    return 1 if fleet.count(FAIL) or fleet.nodes_that(FAIL) else 0


def _said(fleet: Fleet, out: Path) -> str:
    """The report in a few lines, the nodes that fail by name."""
    counts = Counter(card.state for card in fleet.cards)
    lines = [f"{layout.counted(len(fleet.cards), 'GPU')} of {layout.counted(len(fleet.nodes), 'node')}: "
             + ", ".join(f"{counts[state]} {state}" for state in nodes.STATES
                         if counts[state] or state in (PASS, FAIL))]
    for state in (FAIL, SUSPECT):
        for name in fleet.nodes_that(state)[:20]:
            lines.append(f"{state}: {name}: {'; '.join(fleet.nodes[name].reasons[:4])}")
        if len(fleet.nodes_that(state)) > 20:
            lines.append(f"{state}: {len(fleet.nodes_that(state)) - 20} more nodes, in {out / f'{state}.txt'}")
    lines.append(f"page: {out / 'fleet.html'}")
    return "\n".join(lines)


def judge_node(folder: Path, name: str, path: Path) -> list[str]:
    """What is wrong with the GPUs of one node, by a baseline; raises FleetError."""
    baseline = read_baseline(path)
    place = layout.node_folder(folder, name)
    gpus = []
    for gpu_folder in layout.gpu_folders(place):
        read = store.read_gpu(store.Place(name, layout.gpu_index(gpu_folder.name) or 0, gpu_folder, ""))
        if read.gpu is None:
            return [f"{gpu_folder.name}: {read.trouble}"]
        gpus.append(read.gpu)
    return [f"{verdict.key.rpartition('/')[2]}: {verdict.cause}" for verdict in _judged(gpus, baseline, path)
            if verdict.status in (SUSPECT, FAIL)]
