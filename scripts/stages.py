#!/usr/bin/env python3
"""Fills in which stages of the matrix products a GPU has, and what the others need, in docs/8-matrix-products.md.

Usage: stages.py [--check] FOLDER

FOLDER has sgemm, dgemm and hgemm of the host backend, which knows the stages of all: --stages prints what each of
them declares. With --check nothing is written. Exit status: 0 good, 1 the documents say something else, 2 bad usage.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from hipscope.results import markdown

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ("docs/8-matrix-products.md", "docs/zh-CN/8-matrix-products.md")
BEGIN, END = "<!-- stages.py: which GPU has which stages -->", "<!-- stages.py: end -->"
LADDERS = ("sgemm", "dgemm", "hgemm")
MORE = "{} has {} more, on every GPU."
CHINESE = {
    "stage": "阶段",
    "it needs": "它需要",
    "yes": "有",
    "copies from memory of which each lane says where in LDS (cp.async)": "每个通道自定 LDS 位置的内存拷贝（cp.async）",
    "through registers": "经由寄存器",
    "a compiler that takes no bound for none stated": "未写启动界限时不自设界限的编译器",
    "MFMA of FP64, CDNA 2 and later": "FP64 的 MFMA，CDNA 2 及以后",
    "mma.sync of FP64, sm_80 and later": "FP64 的 mma.sync，sm_80 及以后",
    "cp.async, ldmatrix and mma.sync, sm_80 and later": "cp.async、ldmatrix 和 mma.sync，sm_80 及以后",
    "tensor copies, sm_90 and later": "张量拷贝，sm_90 及以后",
    "wgmma and tensor copies, sm_90 alone": "wgmma 和张量拷贝，只有 sm_90",
    MORE: "{} 另有 {} 个阶段，每种 GPU 都有。",
}


def merged(stages: list[list[str]]) -> dict[str, list[str]]:
    """Cells by stage, with what a stage needs last. Of stages that differ by their instruction, "MFMA, larger tile" and
    "WMMA of gfx11, larger tile", one, with the instruction in each cell."""
    rows: dict[str, list[str]] = {}
    for name, needs, *answers in stages:
        by_instruction = needs != "" and name.startswith(needs) and ", " in name
        word, stage = name.split(", ", 1) if by_instruction else ("yes", name)
        row = rows.setdefault(stage, [""] * len(answers) + ["" if by_instruction else needs])
        row[:-1] = [word if answer == "yes" else cell for answer, cell in zip(answers, row)]
    return rows


def tables(folder: Path, words: dict[str, str]) -> str:
    """For each ladder its stages that not every GPU has, and how many others there are."""
    parts = []
    for ladder in LADDERS:
        done = subprocess.run([folder / ladder, "--stages"], capture_output=True, text=True, check=True)
        head, *stages = [line.split("\t") for line in done.stdout.splitlines()]
        header = [words.get("stage", "stage"), *head[2:], words.get("it needs", "it needs")]
        rows = merged([stage for stage in stages if "no" in stage])
        cells = [
            [f"`{ladder}` {markdown.text(stage)}", *(markdown.text(words.get(cell, cell)) for cell in row)]
            for stage, row in rows.items()
        ]
        more = words.get(MORE, MORE).format(f"`{ladder}`", sum("no" not in stage for stage in stages))
        parts += [markdown.text_table(header, cells), more]
    return "\n\n".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("folder", metavar="FOLDER", type=Path)
    arguments = parser.parse_args()
    status = 0
    for document in DOCUMENTS:
        path = ROOT / document
        try:
            wanted = tables(arguments.folder, CHINESE if "zh-CN" in document else {})
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
