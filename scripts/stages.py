#!/usr/bin/env python3
"""Fills in the table of stages in docs/8-matrix-products.md: those of chapter 8's ladders, what each has of the
peak, measured on an H200 and predicted of AMD's GPUs, where its checks run, and what it needs.

Usage: stages.py [--check] FOLDER

FOLDER has the experiments of the host backend: of the matrix products --stages prints what each stage declares; the
others are run once, with few values. The shares are those of results/nvidia-h200 and results/isa. With --check nothing
is written. Exit status: 0 good, 1 the documents, or AMD's compiled code, say something else, 2 bad usage.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hipscope.compiled_code import kept_predictions, prediction_page, results
from hipscope.results import load, markdown

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ("docs/8-matrix-products.md", "docs/zh-CN/8-matrix-products.md")
BEGIN, END = "<!-- stages.py: which GPU has which stages -->", "<!-- stages.py: end -->"
LADDERS = ("sgemm", "dgemm", "hgemm")
# The ladders of kernels that move bytes: their sweeps, and what "share of" them is of.
OF_BYTES = {"reduction": (("stages",), "read"), "batchnorm": (("stages", "spatial"), "copy")}
# Of these the stages that NVIDIA's GPUs alone have: their kernel, which AMD's code must lack, and why.
NVIDIA_ALONE = {
    ("batchnorm", "resident, cluster"): ("channel_cluster_kernel", "LDS of other blocks (clusters), sm_90 and later"),
    ("batchnorm", "resident, in LDS too"): ("channel_in_lds_kernel", "LDS that is hardly less than the registers"),
    ("batchnorm", "resident, in LDS too, asked for ahead"): (
        "channel_in_lds_kernel",
        "the same, and an instruction that fetches to L2 and waits for nothing",
    ),
}
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
    prediction_page.BY_UNIT: "按部件",
    "copies from memory of which each lane says where in LDS (cp.async)": "每个通道自定 LDS 位置的内存拷贝（cp.async）",
    "through registers": "经由寄存器",
    "a compiler that takes no bound for none stated": "未写启动界限时不自设界限的编译器",
    "MFMA of FP64, CDNA 2 and later": "FP64 的 MFMA，CDNA 2 及以后",
    "mma.sync of FP64, sm_80 and later": "FP64 的 mma.sync，sm_80 及以后",
    "cp.async, ldmatrix and mma.sync, sm_80 and later": "cp.async、ldmatrix 和 mma.sync，sm_80 及以后",
    "tensor copies, sm_90 and later": "张量拷贝，sm_90 及以后",
    "wgmma and tensor copies, sm_90 alone": "wgmma 和张量拷贝，只有 sm_90",
    "LDS of other blocks (clusters), sm_90 and later": "其他块的 LDS（簇），sm_90 及以后",
    "LDS that is hardly less than the registers": "几乎和寄存器一样大的 LDS",
    "the same, and an instruction that fetches to L2 and waits for nothing": "同上，再加一条取到 L2 而什么都不等的指令",
    "MFMA, transposing loads from LDS, of gfx950 alone": "MFMA，从 LDS 转置装入，只有 gfx950",
    "MFMA, loads from memory to LDS, which RDNA 3 and 4 lack": "MFMA，从内存直接装入 LDS，RDNA 3 和 4 没有",
}


Stage = dict[str, str]


@dataclass
class Row:
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


def rows_of(stages: list[Stage]) -> list[Row]:
    """In their order. A stage's instruction is what it needs, up to a semicolon, and its name begins with that."""
    found: dict[tuple[str, bool], Row] = {}
    for stage in stages:
        name, (instruction, _, other) = stage["stage"], stage["needs"].partition("; ")
        by_instruction = instruction != "" and name.startswith(instruction) and ", " in name
        word, short = name.split(", ", 1) if by_instruction else ("yes", name)
        row = found.setdefault((short, instruction == ""), Row(short))
        row.names.append(name)
        row.words |= {key: word for key, answer in stage.items() if answer == "yes"}
        need = f"{instruction}, {other}" if other else instruction
        # Of one that others do by other means, its own alone.
        if need and need not in row.needs and (not by_instruction or row.names[0] != short):
            row.needs.append(need)
    return list(found.values())


def declared(ladder: str, folder: Path) -> list[Stage]:
    """A matrix product's stages: each one's name, what it needs, and which architectures have it."""
    done = subprocess.run([folder / ladder, "--stages"], capture_output=True, text=True, check=True)
    head, *lines = [line.split("\t") for line in done.stdout.splitlines()]
    return [dict(zip(head, line)) for line in lines]


def names_on_host(ladder: str, folder: Path, lanes: int) -> dict[str, bool]:
    """The stages of a ladder of kernels that move bytes, and whether the host backend has them."""
    sweeps, _ = OF_BYTES[ladder]
    with tempfile.TemporaryDirectory(prefix="hipscope-stages-") as scratch:
        file = Path(scratch) / "result.json"
        command = [str(folder / ladder), "--filter", f"^({'|'.join(sweeps)})$", "--once", "--json", str(file)]
        environment = {**os.environ, "HIPSCOPE_HOST_WAVE_SIZE": str(lanes)}
        subprocess.run(command, capture_output=True, check=True, env=environment)
        ran = json.loads(file.read_text(encoding="utf-8"))["sweeps"]
    names: dict[str, bool] = {}
    for sweep in ran:
        refused = [note.removesuffix(": not on this device") for note in sweep["notes"]]
        names |= {row["label"]: True for row in sweep["rows"]}
        names |= {name: False for name in refused if (ladder, name) in NVIDIA_ALONE}
    return {name: has for name, has in names.items() if not name.startswith(OF_BYTES[ladder][1])}


def of_bytes(ladder: str, folder: Path, gpus: list[str]) -> list[Stage]:
    """The stages of a ladder of kernels that move bytes, as `declared` has them; raises ValueError."""
    on_host = {lanes: names_on_host(ladder, folder, lanes) for lanes in (32, 64)}
    kernels = {
        (target.partition("-")[0], kernel["name"])
        for (target, name), result in results.read_folder(kept_predictions.FOLDER).items()
        for kernel in (result["kernels"] if name == ladder else ())
    }
    stages = []
    for name in on_host[32]:
        kernel, needs = NVIDIA_ALONE.get((ladder, name), ("", ""))
        has = {gpu: "yes" if not kernel or gpu == "sm_90" else "no" for gpu in gpus}
        wrong = [target for target, compiled in kernels if kernel and kernel in compiled]
        if wrong:
            raise ValueError(f"{ladder}, '{name}' is no longer NVIDIA's alone: {wrong[0]} has {kernel}")
        of_host = {f"host {lanes}": "yes" if names[name] else "no" for lanes, names in on_host.items()}
        stages.append({"stage": name, "needs": needs, **has, **of_host})
    return stages


def measured_of_bytes(ladder: str) -> dict[tuple[str, str, str], float]:
    """What a kernel that moves bytes has on the H200 of one that only reads or copies."""
    sweeps, reference = OF_BYTES[ladder]
    found = load.load_result(prediction_page.MEASURED_FOLDER / f"{ladder}.json").sweeps
    return {
        ("sm_90", ladder, row.label): value.value / 100
        for sweep in found
        for row in (sweep.rows if sweep.name in sweeps else ())
        for value in row.values
        if value.name == f"share of {reference}" and value.value is not None
    }


def table(ladder: str, stages: list[Stage], words: dict[str, str]) -> str:
    """Of a ladder's stages, those that differ by their instruction in one row."""
    head = list(stages[0])
    gpus = [key for key in head[2:] if not key.startswith("host")]
    entries = [
        entry
        for entry in kept_predictions.read(kept_predictions.FOLDER)
        if entry["experiment"] == ladder and entry["sweep"] in OF_BYTES.get(ladder, [["stages"]])[0]
    ]
    shown = {(entry["row"], entry["target"]): entry for entry in prediction_page.survivors(entries)}
    tested = prediction_page.on_the_h200(entries)
    measured = measured_of_bytes(ladder) if ladder in OF_BYTES else prediction_page.measured_shares()

    def cell(row: Row, gpu: str) -> str:
        word = row.word(gpu)
        if gpu == "sm_90":
            share = next((measured[gpu, ladder, name] for name in row.names if (gpu, ladder, name) in measured), None)
            said = "" if share is None else f"{100 * share:.1f} %"
        else:
            entry = next((shown[name, gpu] for name in row.names if (name, gpu) in shown), None)
            said = prediction_page.share_cell(entry) if entry else ""
        return ", ".join(part for part in (words.get(word, word) if word != "yes" or not said else "", said) if part)

    def checked_on(row: Row) -> str:
        lanes = [key.split()[1] for key in head if key.startswith("host") and key in row.words]
        places = [f"{words.get('host', 'host')} {', '.join(lanes)}"] if lanes else []
        places += [words.get("emulator", "emulator")] if "gfx90a" in row.words else []
        places += [words.get("code", "code")] if any(gpu.startswith("gfx") for gpu in row.words) else []
        return "; ".join((["H200"] if "sm_90" in row.words else []) + places)

    def ratio(row: Row) -> str:
        of_row = [entry for entry in entries if entry["row"] in row.names]
        told = [prediction_page.of_h200_cell(tested, entry) for entry in of_row]
        return words.get(told[0], told[0]) if told else ""

    rows = []
    for row in rows_of(stages):
        needs = words.get(" or ", " or ").join(words.get(need, need) for need in row.needs)
        rows.append(
            [
                f"`{ladder}` {markdown.text(row.name())}",
                *(markdown.text(cell(row, gpu)) for gpu in gpus),
                ratio(row),
                checked_on(row),
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
    try:
        ladders = {ladder: declared(ladder, arguments.folder) for ladder in LADDERS}
        gpus = [key for key in ladders["sgemm"][0] if key.startswith(("sm_", "gfx"))]
        ladders |= {ladder: of_bytes(ladder, arguments.folder, gpus) for ladder in OF_BYTES}
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        print(f"stages.py: {error}", file=sys.stderr)
        return 1 if isinstance(error, ValueError) else 2
    for document in DOCUMENTS:
        path = ROOT / document
        words = CHINESE if "zh-CN" in document else {}
        wanted = "\n\n".join(table(ladder, stages, words) for ladder, stages in ladders.items())
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
