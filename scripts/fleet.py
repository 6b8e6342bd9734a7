#!/usr/bin/env python3
"""Measures the GPUs of many nodes and says which are slow, wrong or missing.

`fleet.py run` measures the node it is started on and takes Python's standard library alone; a site's own
engine (srun, pdsh, Kubernetes) starts it on every node. `fleet.py report` makes the pages and lists of all.
`fleet.py simulate` says how often that finds a slow GPU and accuses a good one.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hipscope.fleet import expected, layout, node
from hipscope.fleet.layout import FleetError
from hipscope.fleet.tiers import TIERS
from hipscope.results import ending
from hipscope.results.door import BadInput

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DETECTION_LIMIT_S = 60
STATUS = """exit status of run: 0 good, 1 a GPU computed a wrong value, hung or broke, 2 bad usage or refused,
3 device or output error (a full disk), 77 no device, 130 and 143 when interrupted.
exit status of report: 0 all nodes and GPUs pass, 1 some fail, 2 bad usage or input that cannot be read,
3 output that cannot be written. A suspect alone does not change it."""


Option = dict[str, Any]


def _option(name: str, read: Callable[[str], Any], wrong: str) -> Option:
    """An option's value: what `read` makes of a text; where that is None or an error, the text is wrong."""

    def checked(text: str) -> Any:
        try:
            value = read(text)
        except (ValueError, re.error):
            value = None
        if value is None:
            raise argparse.ArgumentTypeError(wrong.format(text))
        return value

    return {"metavar": name, "type": checked}


def _whole(most: int) -> Option:
    def read(text: str) -> int | None:
        return int(text) if re.fullmatch(r"[0-9]{1,6}", text) and 1 <= int(text) <= most else None

    return _option("N", read, f"'{{}}' is no number from 1 to {most}")


FILE: Option = {"metavar": "FILE", "type": Path}
DIR: Option = {"metavar": "DIR", "type": Path}
REGEX = _option("REGEX", lambda text: re.compile(text).pattern, "'{}' is not a valid regular expression")
NODE = _option("NAME", lambda text: layout.NODE_NAME.fullmatch(text) and text, "'{:.100}' is no node's name")
SECONDS = _option(
    "S", lambda text: float(text) if 0 < float(text) <= 1e6 else None, "'{}' is no number of seconds above 0"
)


class _Parser(argparse.ArgumentParser):
    """Bad usage is one sentence."""

    def error(self, message: str) -> Any:
        self.exit(2, f"fleet.py: {message}; see --help.\n")


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    told: dict[str, Any] = {"epilog": STATUS, "formatter_class": argparse.RawDescriptionHelpFormatter}
    parser = _Parser(prog="fleet.py", description=__doc__, **told)
    actions = parser.add_subparsers(dest="action", required=True, metavar="run|report|simulate")

    run = actions.add_parser("run", help="measure this node's GPUs", **told)
    run.add_argument("--out", **DIR, help="the fleet's folder, which all nodes see")
    run.add_argument(
        "--tier",
        choices=TIERS,
        default="smoke",
        help="smoke takes about 30 s, standard 3 min, soak as long as its experiment soak besides (default: smoke)",
    )
    binaries = run.add_mutually_exclusive_group()
    binaries.add_argument("--bin", **DIR, help="the folder of the binaries")
    binaries.add_argument("--build-dir", **DIR, help="the build folder, whose bin/ has them")
    run.add_argument(
        "--timeout", **SECONDS, help="the most seconds that one experiment may take on one GPU (default: by tier)"
    )
    run.add_argument("--only", **REGEX, default="", help="only those of the tier's experiments whose name matches")
    run.add_argument(
        "--node", **NODE, help="this node's name (default: $HIPSCOPE_NODE, $SLURMD_NODENAME, the host's name)"
    )
    run.add_argument(
        "--confirm", **FILE, help="measure again, three times, what this file of `report` lists of this node"
    )
    run.add_argument(
        "--prolog",
        action="store_true",
        help="for a prolog or health check: print one line; without --out nothing is kept",
    )
    run.add_argument("--baseline", **FILE, help="with --prolog: a fleet.json to judge this node's GPUs by")
    run.add_argument(
        "--made-up-gpus",
        **_whole(128),
        help="binaries of the host backend only: take the CPU for this many GPUs, for tests",
    )

    report = actions.add_parser("report", help="judge all nodes' GPUs, make the page and the lists", **told)
    report.add_argument("folder", **DIR, help="the fleet's folder")
    report.add_argument(
        "--expect",
        **FILE,
        help="the nodes that must report, one a line (node[001-064] is 64), each with its number of GPUs behind it if "
        "that is to be checked",
    )
    report.add_argument(
        "--baseline", **FILE, help="a fleet.json of healthy GPUs, for fleets too small to tell their own spread"
    )
    report.add_argument("--out", **DIR, help="where to write (default: the fleet's folder)")
    report.add_argument(
        "--jobs", **_whole(128), default=os.cpu_count() or 1, help="processes that read results (default: one per core)"
    )

    simulate = actions.add_parser(
        "simulate",
        help="print how often a slow GPU is found and a good one accused, in simulated fleets: by report and by two "
        "rules in use",
    )
    simulate.add_argument("--sizes", **_whole(999999), nargs="+", help="GPUs in a fleet (default: 8 to 10000)")
    simulate.add_argument(
        "--gpus", **_whole(999999), help="GPUs in each cell of the table, at least: more take longer (default: 5000)"
    )
    parsed = parser.parse_args(arguments)
    if parsed.action == "run":
        if parsed.out is None and not parsed.prolog:
            run.error("run needs --out DIR, the folder that all nodes see")
        if parsed.baseline and not parsed.prolog:
            run.error("--baseline is for report, or for run with --prolog")
        if parsed.prolog and parsed.confirm:
            run.error("--prolog and --confirm exclude each other")
    return parsed


def own_name() -> str:
    """This node's name, as its site calls it; raises FleetError."""
    for name in (os.environ.get("HIPSCOPE_NODE"), os.environ.get("SLURMD_NODENAME"), socket.gethostname()):
        if name:
            if not layout.NODE_NAME.fullmatch(name):
                raise FleetError(f"'{name[:100]}' is no node's name; give one by --node.")
            return name
    raise FleetError("this host has no name; give one by --node.")


def find_binaries(arguments: argparse.Namespace) -> Path:
    """The folder of the binaries; raises FleetError."""
    if arguments.bin or arguments.build_dir:
        folder: Path = arguments.bin or arguments.build_dir / "bin"
    elif (ROOT / "experiments.txt").exists() and (ROOT / "bin").is_dir():
        folder = ROOT / "bin"
    else:
        quiet: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        try:
            told = subprocess.check_output(HERE / "detect_backend.sh", text=True, timeout=DETECTION_LIMIT_S, **quiet)
        except (OSError, subprocess.SubprocessError) as error:
            raise FleetError(
                "which backend this node has cannot be told; name the folder of the binaries by --bin."
            ) from error
        folder = ROOT / "build" / told.strip() / "bin"
    if not folder.is_dir():
        raise FleetError(f"there is no folder of binaries {folder}; build, or name one by --bin.")
    return folder.resolve()


def run_node(arguments: argparse.Namespace, out: Path) -> tuple[int, dict[str, Any]]:
    """Measures this node into a folder; raises FleetError."""
    name = arguments.node or own_name()
    again = None
    if arguments.confirm:
        again = expected.to_confirm(arguments.confirm, name)
        if not again:
            print(f"{name}: nothing of this node is to be measured again")
            return 0, {}
    return node.run(
        node.Job(
            binaries=find_binaries(arguments),
            out=out,
            node=name,
            tier=arguments.tier,
            limit_s=arguments.timeout,
            only=arguments.only,
            made_up=arguments.made_up_gpus,
            again=again,
            is_prolog=arguments.prolog,
        )
    )


def prolog(arguments: argparse.Namespace) -> int:
    """Measures this node and prints one line, whatever happens."""
    try:
        with node.scratch_folder() as scratch:
            out = arguments.out or scratch
            if arguments.baseline:
                from hipscope.fleet import gather

                gather.read_baseline(arguments.baseline)
            status, record = run_node(arguments, out)
            said = node.summary(record)
            if arguments.baseline and status == 0:
                slow = gather.judge_node(out, record, arguments.baseline)
                if slow:
                    status, said = 1, "FAIL: " + "; ".join(slow)
    except BadInput as error:
        status, said = getattr(error, "status", 2), f"cannot be measured: {error}"
    print(f"hipscope {arguments.tier}: {said}")
    return status


def end(number: int, _: Any) -> None:
    """A signal ends what was started, says in node.json that it was interrupted, and only then the program."""
    for each in ending.SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        os.write(sys.stderr.fileno(), b"fleet.py: interrupted; what was measured by then is kept.\n")
    raise SystemExit(128 + number)


@ending.in_a_sentence("fleet.py", bad_input=2, not_written=3)
def main(arguments: list[str] | None = None) -> int:
    parsed = parse_arguments(arguments)
    if parsed.action == "simulate":
        from hipscope.fleet import simulate

        for line in simulate.run(parsed.sizes or simulate.SIZES, parsed.gpus or simulate.GPUS_PER_CELL):
            print(line, flush=True)
        return 0
    if parsed.action == "report":
        from hipscope.fleet import report

        return report.report(parsed.folder, parsed.out or parsed.folder, parsed.expect, parsed.baseline, parsed.jobs)
    ending.on_signals(end)
    return prolog(parsed) if parsed.prolog else run_node(parsed, parsed.out)[0]


if __name__ == "__main__":
    sys.exit(ending.run("fleet.py", main, output_failed=3) if sys.argv[1:2] in (["report"], ["simulate"]) else main())
