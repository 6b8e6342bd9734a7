#!/usr/bin/env python3
"""Fills in the table of rungs in docs/8-matrix-products.md: the stages of the matrix products, what each has of the
peak, measured on an H200 and predicted of AMD's GPUs, where its checks run, and what it needs.

Usage: stages.py [--check] FOLDER

FOLDER has sgemm, dgemm and hgemm of the host backend, which knows the stages of all: --stages prints what each of
them declares. The shares are those of results/nvidia-h200 and results/isa. With --check nothing is written. Exit
status: 0 good, 1 the documents say something else, 2 bad usage.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from hipscope.compiled_code import kept_predictions, prediction_page
from hipscope.results import markdown

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ("docs/8-matrix-products.md", "docs/zh-CN/8-matrix-products.md")
BEGIN, END = "<!-- stages.py: which GPU has which stages -->", "<!-- stages.py: end -->"
LADDERS = ("sgemm", "dgemm", "hgemm")
CHINESE = {
    "stage": "阶段",
    "checked on": "检查于",
    "host": "主机",
    "emulator": "模拟器",
    "code": "代码",
    "it needs": "它需要",
    "yes": "有",
    " or ": " 或 ",
    prediction_page.ON_THE_H200: "H200，实测值除以预测值",
    prediction_page.UNTESTED: "未检验",
    "copies from memory of which each lane says where in LDS (cp.async)": "每个通道自定 LDS 位置的内存拷贝（cp.async）",
    "through registers": "经由寄存器",
    "a compiler that takes no bound for none stated": "未写启动界限时不自设界限的编译器",
    "MFMA of FP64, CDNA 2 and later": "FP64 的 MFMA，CDNA 2 及以后",
    "mma.sync of FP64, sm_80 and later": "FP64 的 mma.sync，sm_80 及以后",
    "cp.async, ldmatrix and mma.sync, sm_80 and later": "cp.async、ldmatrix 和 mma.sync，sm_80 及以后",
    "tensor copies, sm_90 and later": "张量拷贝，sm_90 及以后",
    "wgmma and tensor copies, sm_90 alone": "wgmma 和张量拷贝，只有 sm_90",
    "MFMA, transposing loads from LDS, of gfx950 alone": "MFMA，从 LDS 转置装入，只有 gfx950",
    "MFMA, loads from memory to LDS, which RDNA 3 and 4 lack": "MFMA，从内存直接装入 LDS，RDNA 3 和 4 没有",
}


@dataclass
class Rung:
    """A stage; where GPUs have it with different instructions, "MFMA, larger tile" and "WMMA of gfx11, larger tile",
    all of them."""

    short: str
    names: list[str] = field(default_factory=list)
    # By architecture the instruction that tells its stage from the others', or "yes".
    words: dict[str, str] = field(default_factory=dict)
    needs: list[str] = field(default_factory=list)

    def name(self) -> str:
        """Without the instruction where there are several."""
        return self.short if len(self.names) > 1 else self.names[0]

    def word(self, gpu: str) -> str:
        """How a GPU has it; nothing where it has it not."""
        word = self.words.get(gpu, "")
        return word if len(self.names) > 1 or not word else "yes"


def rungs_of(stages: list[dict[str, str]]) -> list[Rung]:
    """In their order. A stage's instruction is what it needs, up to a semicolon, and its name begins with that."""
    rungs: dict[tuple[str, bool], Rung] = {}
    for stage in stages:
        name, (instruction, _, other) = stage["stage"], stage["needs"].partition("; ")
        by_instruction = instruction != "" and name.startswith(instruction) and ", " in name
        word, short = name.split(", ", 1) if by_instruction else ("yes", name)
        rung = rungs.setdefault((short, instruction == ""), Rung(short))
        rung.names.append(name)
        rung.words |= {key: word for key, answer in stage.items() if answer == "yes"}
        need = f"{instruction}, {other}" if other else instruction
        # Of one that others do by other means, its own alone.
        if need and need not in rung.needs and (not by_instruction or rung.names[0] != short):
            rung.needs.append(need)
    return list(rungs.values())


def table(ladder: str, folder: Path, words: dict[str, str]) -> str:
    """Of a ladder's rungs."""
    done = subprocess.run([folder / ladder, "--stages"], capture_output=True, text=True, check=True)
    head, *lines = [line.split("\t") for line in done.stdout.splitlines()]
    gpus = [key for key in head[2:] if not key.startswith("host")]
    entries = [
        entry
        for entry in kept_predictions.read(kept_predictions.FOLDER)
        if (entry["experiment"], entry["sweep"]) == (ladder, "stages")
    ]
    shown = {(entry["row"], entry["target"]): entry for entry in prediction_page.survivors(entries)}
    tested = prediction_page.on_the_h200(entries)
    measured = prediction_page.measured_shares()

    def cell(rung: Rung, gpu: str) -> str:
        word = rung.word(gpu)
        if gpu == "sm_90":
            share = next((measured[gpu, ladder, name] for name in rung.names if (gpu, ladder, name) in measured), None)
            said = "" if share is None else f"{100 * share:.1f} %"
        else:
            entry = next((shown[name, gpu] for name in rung.names if (name, gpu) in shown), None)
            said = prediction_page.share_cell(entry) if entry else ""
        return ", ".join(part for part in (words.get(word, word) if word != "yes" or not said else "", said) if part)

    def checked_on(rung: Rung) -> str:
        lanes = [key.split()[1] for key in head if key.startswith("host") and key in rung.words]
        places = [f"{words.get('host', 'host')} {', '.join(lanes)}"] if lanes else []
        places += [words.get("emulator", "emulator")] if "gfx90a" in rung.words else []
        places += [words.get("code", "code")] if any(gpu.startswith("gfx") for gpu in rung.words) else []
        return "; ".join((["H200"] if "sm_90" in rung.words else []) + places)

    def ratio(rung: Rung) -> str:
        of_rung = [entry for entry in entries if entry["row"] in rung.names]
        told = [prediction_page.of_h200_cell(tested, entry) for entry in of_rung]
        return words.get(told[0], told[0]) if told else ""

    rows = []
    for rung in rungs_of([dict(zip(head, line)) for line in lines]):
        needs = words.get(" or ", " or ").join(words.get(need, need) for need in rung.needs)
        rows.append(
            [
                f"`{ladder}` {markdown.text(rung.name())}",
                *(markdown.text(cell(rung, gpu)) for gpu in gpus),
                ratio(rung),
                checked_on(rung),
                markdown.text(needs),
            ]
        )
    header = ["stage", *gpus, prediction_page.ON_THE_H200, "checked on", "it needs"]
    return markdown.text_table([words.get(key, key) for key in header], rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("folder", metavar="FOLDER", type=Path)
    arguments = parser.parse_args()
    status = 0
    for document in DOCUMENTS:
        path = ROOT / document
        words = CHINESE if "zh-CN" in document else {}
        try:
            wanted = "\n\n".join(table(ladder, arguments.folder, words) for ladder in LADDERS)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"stages.py: {error}", file=sys.stderr)
            return 2
        text = path.read_text(encoding="utf-8")
        before, _, rest = text.partition(BEGIN)
        new = f"{before}{BEGIN}\n\n{wanted}\n\n{END}{rest.partition(END)[2]}"
        if arguments.check and new != text:
            print(
                f"stages.py: {document} does not have what the stages declare: run stages.py {arguments.folder}",
                file=sys.stderr,
            )
            status = 1
        elif not arguments.check:
            path.write_text(new, encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
