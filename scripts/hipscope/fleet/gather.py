"""A fleet's GPUs and nodes with what is said of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hipscope.results import door, formats
from hipscope.results.door import BadInput

from . import cohorts, layout, nodes, store, verdicts
from .metrics import Gpu, Metric
from .nodes import Node
from .verdicts import FAIL, PASS, SUSPECT, Verdict

WORDS = {FAIL: "Failed", SUSPECT: "Suspect"}


@dataclass
class Card:
    """One GPU of the fleet and what is said of it; `gpu` is None where it has no results."""

    node: str
    slot: int
    gpu: Gpu | None
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


def _card(node: Node, slot: int, gpu: Gpu | None, verdict: Verdict | None, unread: str) -> Card:
    """What the node and the statistics say of one GPU, the worse of both."""
    said = verdict or Verdict(f"{node.name}/{layout.gpu_name(slot)}", FAIL, "")
    trouble = nodes.trouble_of(node, slot) or unread or ("" if gpu else "no results")
    if trouble:
        kind, _, rest = trouble.partition(": ")
        said.status = FAIL
        # Wrong values are told by the results, too, and better.
        if said.cause != "wrong values":
            said.cause = "; ".join(filter(None, [kind, said.cause]))
            said.sentences.insert(0, rest or trouble)
    return Card(node.name, slot, gpu, said)


def gather(
    known: Mapping[str, Node],
    gpus: Mapping[tuple[str, int], Gpu],
    unread: Mapping[tuple[str, int], str],
    baseline: dict[str, Any] | None,
) -> Fleet:
    """Judges all GPUs and, by them, the nodes."""
    found = verdicts.judge(list(gpus.values()), baseline)
    said = dict(zip(gpus, found))
    slots = sorted(
        {*gpus, *unread, *((name, slot) for name, node in known.items() for slot in node.slots)},
        key=lambda key: (formats.by_number(key[0]), key[1]),
    )
    cards = [
        _card(known[name], slot, gpus.get((name, slot)), said.get((name, slot)), unread.get((name, slot), ""))
        for name, slot in slots
    ]
    for card in cards:
        if card.state in (SUSPECT, FAIL):
            known[card.node].worsen(card.state, f"gpu {card.slot}: {card.verdict.cause or card.state}")
        else:
            known[card.node].state = nodes.worst([known[card.node].state, card.state])
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


def judge_node(folder: Path, name: str, path: Path) -> list[str]:
    """What is wrong with the GPUs of one node, by a baseline; raises BadInput."""
    baseline = read_baseline(path)
    place = layout.node_folder(folder, name)
    gpus = []
    for gpu_folder in layout.gpu_folders(place):
        read = store.read_gpu(store.Place(name, layout.gpu_index(gpu_folder.name) or 0, gpu_folder, ""))
        if read.gpu is None:
            return [f"{gpu_folder.name}: {read.trouble}"]
        gpus.append(read.gpu)
    return [
        f"{verdict.key.rpartition('/')[2]}: {verdict.cause}"
        for verdict in verdicts.judge(gpus, baseline)
        if verdict.status in (SUSPECT, FAIL)
    ]
