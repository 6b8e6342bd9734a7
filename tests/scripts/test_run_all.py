"""run_all.sh over a build folder of fake binaries."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from pathlib import Path

import pytest
import synthetic
from conftest import Done, Sandbox, end_of, program, wait_for

from hipscope.report import card

LINE = r"^\[{number}/3\] {name} \.\.\. \d+\.\d s {outcome}$"


def has_line(text: str, number: int, name: str, outcome: str) -> bool:
    pattern = LINE.format(number=number, name=name, outcome=re.escape(outcome))
    return re.search(pattern, text, re.MULTILINE) is not None


def test_all_good(whole_sandbox: Sandbox) -> None:
    done = whole_sandbox.run(status=0)
    for number, name in enumerate(("copy_rate", "load_latency", "wave_rate"), 1):
        assert has_line(done.stdout, number, name, "ok")
        assert not (whole_sandbox.results / f"{name}.txt").exists()
        assert (whole_sandbox.results / f"{name}.md").read_text().startswith(f"# {name}\n")
        assert json.loads((whole_sandbox.results / f"{name}.json").read_text())["experiment"] == name
    assert (whole_sandbox.results / "README.md").read_text().startswith("# Test GPU\n")
    assert (whole_sandbox.results / "card.md").read_text().startswith("# Hardware card: Test GPU\n")
    assert "Report: results/fake-gpu/README.md\nHardware card: results/fake-gpu/card.md\n" in done.stdout
    assert "Comparison: results/fake-gpu/report.html\n" in done.stdout
    assert "<title>hipscope: Test GPU</title>" in (whole_sandbox.results / "report.html").read_text()
    assert "Measured on Fake GPU, 8 CUs: 3 of 3 experiments." in done.stdout
    assert re.search(r"^Time taken: \d+\.\d s$", done.stdout, re.MULTILINE)
    before = (whole_sandbox.results / "README.md").read_bytes()
    whole_sandbox.run(status=0)
    assert (whole_sandbox.results / "README.md").read_bytes() == before


def test_results_keep_their_mode_and_their_links(sandbox: Sandbox, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    sandbox.results.mkdir(parents=True)
    old = elsewhere / "old.json"
    old.write_text("{}")
    old.chmod(0o640)
    (sandbox.results / "copy_rate.json").symlink_to(old)
    (sandbox.results / "load_latency.json").symlink_to("../../../elsewhere/new.json")
    (sandbox.results / "wave_rate.json").write_text("{}")
    (sandbox.results / "wave_rate.json").chmod(0o604)
    sandbox.run(status=0)
    assert (sandbox.results / "copy_rate.json").is_symlink()
    assert json.loads(old.read_text())["experiment"] == "copy_rate"
    assert old.stat().st_mode & 0o777 == 0o640
    assert (sandbox.results / "load_latency.json").is_symlink()
    assert json.loads((elsewhere / "new.json").read_text())["experiment"] == "load_latency"
    assert (sandbox.results / "wave_rate.json").stat().st_mode & 0o777 == 0o604
    assert sorted(os.listdir(elsewhere)) == ["new.json", "old.json"]


@pytest.mark.parametrize(
    "what", ["loop", pytest.param("folder", marks=pytest.mark.slow), pytest.param("nowhere", marks=pytest.mark.slow)]
)
def test_a_result_that_cannot_be_put_in_place(sandbox: Sandbox, what: str) -> None:
    sandbox.results.mkdir(parents=True)
    place = sandbox.results / "copy_rate.json"
    if what == "folder":
        place.mkdir()
    else:
        place.symlink_to(place.name if what == "loop" else "no/such/folder.json")
    done = sandbox.run(status=1)
    assert has_line(done.stdout, 1, "copy_rate", "error (its result cannot be written)")
    assert has_line(done.stdout, 2, "load_latency", "ok")
    assert place.is_dir() if what == "folder" else place.is_symlink()


def test_failures_do_not_stop_the_rest(sandbox: Sandbox) -> None:
    (sandbox.bin / "copy_rate.status").write_text("1\n")
    (sandbox.bin / "load_latency.crashes").touch()
    done = sandbox.run(status=1)
    assert has_line(done.stdout, 1, "copy_rate", "FAILED (verification)")
    assert has_line(done.stdout, 2, "load_latency", "error 139 (ended by signal 11)")
    assert has_line(done.stdout, 3, "wave_rate", "ok")
    assert done.stdout.endswith(
        "Failed:\n  copy_rate: FAILED (verification)\n  load_latency: error 139 (ended by signal 11)\n"
    )
    assert (sandbox.results / "copy_rate.json").exists()
    assert not (sandbox.results / "load_latency.json").exists()


@pytest.mark.parametrize(
    "status, outcome",
    [
        (2, "error 2 (bad usage)"),
        pytest.param(3, "error 3 (device or runtime)", marks=pytest.mark.slow),
        pytest.param(42, "error 42", marks=pytest.mark.slow),
    ],
)
def test_an_error_keeps_the_old_result(sandbox: Sandbox, status: int, outcome: str) -> None:
    sandbox.run(status=0)
    before = (sandbox.results / "wave_rate.json").read_bytes()
    (sandbox.bin / "wave_rate.status").write_text(f"{status}\n")
    (sandbox.bin / "wave_rate.json").write_text('{"half')
    (sandbox.bin / "wave_rate.says").write_text("wave_rate: out of memory\n")
    done = sandbox.run(status=1)
    assert has_line(done.stdout, 3, "wave_rate", outcome)
    assert "    wave_rate: out of memory\n" in done.stdout
    assert "the earlier result in results/fake-gpu stays" in done.stdout
    assert (sandbox.results / "wave_rate.json").read_bytes() == before


@pytest.mark.parametrize("gone, outcome", [("wave_rate.json", "error (wrote no result)"), ("wave_rate", "error 127")])
def test_what_is_not_there_is_an_error(sandbox: Sandbox, gone: str, outcome: str) -> None:
    (sandbox.bin / gone).unlink()
    done = sandbox.run(status=1)
    assert has_line(done.stdout, 3, "wave_rate", outcome)


def test_no_report_of_a_card_alone(sandbox: Sandbox) -> None:
    sandbox.results.mkdir(parents=True)
    (sandbox.results / "card.json").write_text("{}")
    for name in ("copy_rate", "load_latency", "wave_rate"):
        (sandbox.bin / f"{name}.status").write_text("77\n")
    done = sandbox.run(status=0)
    said = "Report: none: there is no result\nHardware card: not written\nComparison: none: there is no result\n"
    assert said in done.stdout


def test_no_device_in_one_experiment_is_a_skip(sandbox: Sandbox) -> None:
    (sandbox.bin / "copy_rate.status").write_text("77\n")
    done = sandbox.run(status=0)
    assert has_line(done.stdout, 1, "copy_rate", "skipped (no device)")
    assert "Skipped, as said above: copy_rate\n" in done.stdout


def test_no_device_at_all(sandbox: Sandbox) -> None:
    sandbox.set_devices("", 77)
    done = sandbox.run(status=77)
    assert done.stderr.count("\n") == 1 and "no device" in done.stderr
    assert not sandbox.results.exists()


def test_only(sandbox: Sandbox) -> None:
    done = sandbox.run("--only", "^(copy|load)_", status=0)
    assert "[1/2] copy_rate" in done.stdout and "[2/2] load_latency" in done.stdout
    assert not (sandbox.results / "wave_rate.json").exists()


def test_out_and_options_reach_the_binary(whole_sandbox: Sandbox, tmp_path: Path) -> None:
    out = tmp_path / "other place"
    done = whole_sandbox.run("--out", str(out), "--quick", "--device", "1", "--only", "copy", status=0)
    left = "README.md card.json card.md copy_rate.json copy_rate.md plots report.html"
    assert sorted(os.listdir(out)) == left.split()
    assert f"Hardware card: {out}/card.md\nComparison: {out}/report.html\n" in done.stdout
    call = (whole_sandbox.bin / "copy_rate.calls").read_text().splitlines()[-1]
    assert call.endswith("copy_rate.json --quick --device 1")


def test_comparison_has_the_other_devices(whole_sandbox: Sandbox) -> None:
    for folder, backend, name in (("other", "amd", "Another GPU"), ("host", "host", "A CPU")):
        data = synthetic.result(backend=backend)
        data["device"]["name"] = name
        synthetic.write(whole_sandbox.root / "results" / folder, data)
    (whole_sandbox.root / "results" / "broken").mkdir()
    (whole_sandbox.root / "results" / "broken" / "copy_rate.json").write_text('{"half')
    done = whole_sandbox.run("--only", "copy_rate", status=0)
    assert "html_report.py: left out: " in done.stderr and "broken/copy_rate.json is not" in done.stderr
    page = (whole_sandbox.results / "report.html").read_text()
    assert "<title>hipscope: Test GPU, Another GPU</title>" in page and "A CPU" not in page


def test_comparison_that_fails(whole_sandbox: Sandbox) -> None:
    (whole_sandbox.root / "results" / "published" / "published.csv").unlink()
    done = whole_sandbox.run("--only", "copy_rate", status=1)
    assert "Comparison: failed\n" in done.stdout and done.stdout.endswith("Failed:\n  html_report.py\n")
    assert "published.csv cannot be read" in done.stderr
    assert not (whole_sandbox.results / "report.html").exists() and (whole_sandbox.results / "README.md").exists()


def test_no_python_no_report(sandbox: Sandbox) -> None:
    (sandbox.root / "scripts" / "find_python.sh").write_text(
        "#!/bin/sh\necho 'find_python.sh: nothing here can import '\"$*. Install it.\" >&2\nexit 1\n"
    )
    done = sandbox.run(status=0)
    assert "Report: skipped: nothing here can import matplotlib. Install it.\n" in done.stdout
    # Without pages the tables are there as text.
    assert (sandbox.results / "copy_rate.txt").read_text() == "the table of copy_rate\n"
    assert "Comparison: skipped: nothing here can import json. Install it.\n" in done.stdout
    assert not (sandbox.results / "report.html").exists()


def test_of_several_devices_it_says_which(sandbox: Sandbox) -> None:
    several = "Running on Fake GPU, 8 CUs (the first of 2 devices; --device N takes another, fleet.py all)\n"
    assert several in sandbox.run("--only", "copy_rate").stdout
    assert "Running on Other GPU\n" in sandbox.run("--only", "copy_rate", "--device", "1").stdout
    sandbox.set_devices("0\tfake-gpu\tFake GPU, 8 CUs\n")
    assert "Running on Fake GPU, 8 CUs\n" in sandbox.run("--only", "copy_rate").stdout


def test_equal_gpus_have_a_folder_each(sandbox: Sandbox) -> None:
    sandbox.set_devices("0\tfake-gpu\tFake GPU\n1\tother-gpu\tOther GPU\n2\tfake-gpu\tFake GPU\n")
    for device, folder in (("0", "fake-gpu"), ("1", "other-gpu"), ("2", "fake-gpu-gpu2")):
        sandbox.run("--only", "copy_rate", "--device", device, status=0)
        assert (sandbox.root / "results" / folder / "copy_rate.json").exists()


def test_it_measures_one_device(sandbox: Sandbox) -> None:
    for several in ("all", "0,1"):
        done = sandbox.run("--device", several, status=2)
        assert "fleet.py measures several devices" in done.stderr


def test_a_runtime_that_aborts_over_another_gpu(sandbox: Sandbox) -> None:
    sandbox.set_devices("", status=134)
    done = sandbox.run(status=1)
    assert "HIP_VISIBLE_DEVICES=0 hides all but the first" in done.stderr


@pytest.mark.parametrize("given", [False, True])
def test_results_that_cannot_be_written_are_said_before_the_build(
    sandbox: Sandbox, tmp_path: Path, given: bool
) -> None:
    shutil.rmtree(sandbox.root / "results")
    taken = tmp_path / "taken" if given else sandbox.root / "results"
    taken.touch()
    done = sandbox.run_all("--no-setup", "--backend", "nvidia", *(["--out", f"{taken}/a/b"] if given else []))
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot be written to; take another one with --out." in done.stderr and done.stderr.count("\n") == 1


def test_an_installed_tree_runs_as_it_is(sandbox: Sandbox) -> None:
    sandbox.bin.rename(sandbox.root / "bin")
    (sandbox.build / "experiments.txt").rename(sandbox.root / "experiments.txt")
    done = sandbox.run_all("--only", "copy_rate", status=0)
    assert "Building" not in done.stdout and "already there" not in done.stdout
    # Beside the results of its model that such a tree has, and not in their place.
    assert (sandbox.root / "results" / "my-fake-gpu" / "copy_rate.json").exists() and not sandbox.results.exists()


def test_host_results_are_called_functional(whole_sandbox: Sandbox) -> None:
    whole_sandbox.set_devices("0\thost\tthis CPU\n")
    for name in ("copy_rate", "load_latency", "wave_rate"):
        synthetic.write(whole_sandbox.bin, synthetic.result(name, backend="host"))
    done = whole_sandbox.run(status=0)
    assert (whole_sandbox.root / "results" / "host" / "copy_rate.json").exists()
    assert "Measured on a GPU: nothing" in done.stdout
    assert "Checked functionally on the CPU: 3 of 3 experiments; their times are CPU times." in done.stdout
    assert "Compiled for AMD, not run: not asked for" in done.stdout
    assert "Hardware card: none, since nothing is inferred of a CPU\n" in done.stdout
    assert "Comparison: results/host/report.html\n" in done.stdout


@pytest.mark.parametrize("target", ["gfx90a", "gfx1030", "gfx103"])
def test_waves_of_64_only_where_built_for(sandbox: Sandbox, target: str) -> None:
    sandbox.add("wave_rate.wave64")
    sandbox.set_devices(f"0\tfake-gpu\tFake GPU ({target}), 8 CUs\n")
    (sandbox.build / "wave64_targets.txt").write_text("gfx1032\ngfx1036\n", encoding="utf-8")
    done = sandbox.run("--only", "wave64", status=0)
    assert "skipped (not built for waves of 64 on this device)" in done.stdout
    assert not (sandbox.results / "wave_rate.wave64.json").exists()


def test_variant_of_an_experiment(whole_sandbox: Sandbox) -> None:
    whole_sandbox.add("wave_rate.wave64")
    whole_sandbox.set_devices("0\tfake-gpu\tFake RDNA (gfx1032), 8 CUs\n")
    (whole_sandbox.build / "wave64_targets.txt").write_text("gfx1032\ngfx1036\n", encoding="utf-8")
    whole_sandbox.run("--only", "wave64", status=0)
    assert "# wave_rate (wave64)" in (whole_sandbox.results / "wave_rate.wave64.md").read_text()


@pytest.mark.parametrize(
    "arguments, part",
    [
        (["--frobnicate"], "--frobnicate"),
        (["--only", "("], "regular expression"),
        (["--only", "nothing_of_this_name"], "nothing_of_this_name"),
        (["--only"], "--only needs a value"),
        (["--only", ""], "--only needs a value"),
        (["--device", "first"], "--device"),
        (["--device", "-1"], "--device"),
        (["--device", "7"], "no device 7"),
        (["--backend", "vulkan"], "--backend"),
        (["--build-dir", "/nonexistent/folder"], "/nonexistent/folder"),
        (["--quick", "--full"], "--quick"),
        (["--out", "/dev/null/folder"], "/dev/null/folder"),
    ],
)
def test_bad_usage(sandbox: Sandbox, arguments: list[str], part: str) -> None:
    done = sandbox.run(*arguments, status=2)
    assert done.stderr.startswith("run_all.sh: ") and part in done.stderr
    assert done.stderr.count("\n") == 1
    assert "..." not in done.stdout


def test_hostile_device_name(sandbox: Sandbox) -> None:
    sandbox.set_devices("0\t../../escaped\tFake\n")
    sandbox.run(status=2)
    assert not (sandbox.root.parent / "escaped").exists()


def running() -> list[str]:
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(path.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return lines


@pytest.mark.parametrize(
    "number, status", [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.slow)]
)
def test_interrupt(sandbox: Sandbox, number: signal.Signals, status: int) -> None:
    sandbox.run(status=0)
    before = {
        name: (sandbox.results / name).read_bytes()
        for name in ("load_latency.json", "wave_rate.json", "card.md", "README.md")
    }
    (sandbox.bin / "load_latency.hangs").touch()
    process = sandbox.start("--no-build", "--build-dir", str(sandbox.build))
    wait_for(sandbox.bin / "load_latency.started")
    process.send_signal(number)
    done = end_of(process)
    assert (sandbox.bin / "load_latency.terminated").exists()
    assert done.returncode == status
    assert "interrupted" in done.stderr and "wave_rate" not in done.stdout
    for name, content in before.items():
        assert (sandbox.results / name).read_bytes() == content
    # The binary and what it started are gone.
    assert not [line for line in running() if str(sandbox.bin) in line]
    (sandbox.bin / "load_latency.hangs").unlink()
    sandbox.run(status=0)


FAKE_CMAKE = """#!/usr/bin/env bash
[[ $1 != --version ]] || {{ echo "cmake version ${{FAKE_CMAKE_VERSION-3.25.1}}"; exit; }}
printf 'cmake %s\\n' "$*" >>"{calls}"
echo "a line of the build's log"
exit {status}
"""


def with_cmake(folder: Path, status: int = 0, more: str = "") -> dict[str, str]:
    """A cmake that notes its calls beside itself and ends so; the environment in which it is found."""
    text = FAKE_CMAKE.format(calls=folder / "calls", status=status)
    program(folder / "cmake", text.replace("exit 0", more) if more else text)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


@pytest.mark.parametrize("status", [0, 1])
def test_build(sandbox: Sandbox, tmp_path: Path, status: int) -> None:
    environment = with_cmake(tmp_path / "tools", status)
    done = sandbox.run_all("--no-setup", "--backend", "nvidia", environment=environment)
    made = (tmp_path / "tools" / "calls").read_text().splitlines()
    assert made[0] == f"cmake -S {sandbox.root} --preset nvidia -B {sandbox.build} -DHIPSCOPE_TESTS=OFF"
    if status:
        assert done.returncode == 1
        assert "a line of the build's log" in done.stderr
        assert "[1/3]" not in done.stdout
    else:
        assert done.returncode == 0
        assert re.fullmatch(
            rf"cmake --build {sandbox.build} -j \d+ "
            "--target copy_rate load_latency wave_rate",
            made[1],
        )
        assert "a line of the build's log" not in done.stdout + done.stderr
        assert "[3/3]" in done.stdout


def test_one_is_shown_before_the_rest_is_built(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.add("memory_bandwidth")
    (sandbox.bin / "memory_bandwidth").rename(tmp_path / "built")
    made = f"[[ $* != *--build* ]] || cp {tmp_path}/built {sandbox.bin}/memory_bandwidth"
    environment = with_cmake(tmp_path / "tools", more=made)
    done = sandbox.run_all("--no-setup", "--backend", "nvidia", environment=environment, status=0)
    first, rest = done.stdout.split("Building 4 experiments ... ")
    assert first.endswith(" s ok\nthe table of memory_bandwidth\n\n")
    assert "the table of" not in rest and "[1/4] memory_bandwidth ... " in rest
    calls = (tmp_path / "tools" / "calls").read_text().splitlines()
    assert [call.partition(" --target ")[2] for call in calls[1:]] == [
        "memory_bandwidth",
        "memory_bandwidth copy_rate load_latency wave_rate",
    ]
    assert (sandbox.bin / "memory_bandwidth.calls").read_text().startswith("--quick --filter ^stream$\n")


def test_the_card_takes_only_its_experiments_and_their_sweeps(sandbox: Sandbox) -> None:
    sandbox.add("energy")
    sandbox.add("memory_latency")
    done = sandbox.run("--card", status=0)
    assert re.findall(r"^\[\d/\d\] (\w+)", done.stdout, re.MULTILINE) == ["memory_latency", "energy"]
    assert (sandbox.results / "README.md").read_text() == "pages --without-pages\n"
    assert "Report: results/fake-gpu/README.md, with no page per experiment\nHardware card: " in done.stdout
    assert (sandbox.bin / "energy.calls").read_text().endswith(" --quick --filter ^(power|fma|matrix|bytes)$\n")
    assert (sandbox.bin / "memory_latency.calls").read_text().endswith(" --quick\n")
    sandbox.run("--card", "--full", "--only", "energy", status=0)
    assert (sandbox.bin / "energy.calls").read_text().endswith(" --full --filter ^(power|fma|matrix|bytes)$\n")
    assert "the card takes no experiment whose name matches 'copy'" in sandbox.run("--card", "--only", "copy").stderr


def test_what_the_card_takes_is_what_its_parameters_are_told_by() -> None:
    lines = (synthetic.SCRIPTS / "card_experiments.txt").read_text(encoding="utf-8").splitlines()
    named = dict(line.split(" ", 1) if " " in line else (line, "") for line in lines if not line.startswith("#"))
    assert set(named) == {name for group in card.GROUPS.values() for one in group for name, _ in one.inferences}
    for name, sweeps in named.items():
        folder = "nvidia-h200-x2" if name == "peer_copies" else "nvidia-h200"
        result = json.loads((synthetic.REPOSITORY / "results" / folder / f"{name}.json").read_text(encoding="utf-8"))
        assert any(re.search(sweeps, sweep["name"]) for sweep in result["sweeps"]), name


def test_build_of_some_keeps_the_folder_as_configured(sandbox: Sandbox, tmp_path: Path) -> None:
    (sandbox.build / "CMakeCache.txt").touch()
    environment = with_cmake(tmp_path / "tools")
    sandbox.run_all("--no-setup", "--backend", "nvidia", "--only", "rate", environment=environment, status=0)
    configured, built = (tmp_path / "tools" / "calls").read_text().splitlines()
    assert configured == f"cmake -S {sandbox.root} --preset nvidia -B {sandbox.build}"
    assert built.endswith(" --target copy_rate wave_rate")


@pytest.mark.parametrize(
    "version, sentence",
    [
        ("3.23.4", "cmake 3.23 is too old: it takes 3.24 or newer; without root: python3 -m pip install --user cmake"),
        ("", "there is no cmake here: it takes 3.24 or newer; without root: python3 -m pip install --user cmake"),
    ],
)
def test_no_cmake_of_today_is_one_sentence(sandbox: Sandbox, tmp_path: Path, version: str, sentence: str) -> None:
    environment = with_cmake(tmp_path / "tools") | {"FAKE_CMAKE_VERSION": version}
    if not version:
        environment["PATH"] = without("cmake", tmp_path / "tools")
    done = sandbox.run_all("--no-setup", "--backend", "nvidia", environment=environment, status=1)
    assert sentence in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "tools" / "calls").exists()


def test_build_without_ninja_is_by_make(sandbox: Sandbox, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    path = without("ninja", tools)
    (tools / "links" / "cmake").unlink(missing_ok=True)
    program(tools / "links" / "cmake", FAKE_CMAKE.format(calls=tmp_path / "calls", status=0))
    sandbox.run_all("--no-setup", "--backend", "nvidia", environment={"PATH": path}, status=0)
    assert (tmp_path / "calls").read_text().splitlines()[0].endswith("-DHIPSCOPE_TESTS=OFF -G Unix Makefiles")


def test_backend_of_what_was_just_installed(sandbox: Sandbox, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    kfd = tmp_path / "kfd"
    kfd.touch()
    program(tools / "cmake", FAKE_CMAKE.format(calls=tmp_path / "calls", status=1))
    rocm = tmp_path / "rocm" / "bin"
    rocm.mkdir(parents=True)
    # Nothing but what is named here, so that no real hipcc is found.
    for name in ("bash", "chmod", "date", "dirname", "env", "mkdir", "nproc", "rm", "sed", "sleep", "tail"):
        (tools / name).symlink_to(shutil.which(name) or "")
    setup = sandbox.root / "scripts" / "setup.sh"
    setup.write_text(
        f'#!/usr/bin/env bash\necho "$*" >>{tmp_path}/setup.calls\n'
        f"[[ $* == *--check* ]] && exit 1\n"
        f"echo '#!/bin/sh' >{rocm}/hipcc; chmod +x {rocm}/hipcc\n"
    )
    done = sandbox.run_all(environment={"PATH": str(tools), "ROCM_PATH": str(rocm.parent), "HIPSCOPE_KFD": str(kfd)})
    assert (tmp_path / "setup.calls").read_text() == "--for host --check\n--for host\n"
    assert done.stdout.startswith("Configuring for amd "), done.stdout + done.stderr


# Says what it was called with.
FAKE_ISA_REPORT = """echo called with "$@"
exit {status}
"""


def host_with_compiler(sandbox: Sandbox, folder: Path, isa_status: int = 0, hipcc: bool = True) -> dict[str, str]:
    """No GPU, but (with `hipcc`) AMD's compiler, whose build and report are faked; the environment."""
    with_cmake(folder)
    if hipcc:
        program(folder / "hipcc", "#!/bin/sh\n")
    sandbox.set_devices("0\thost\tthis CPU\n")
    (sandbox.root / "scripts" / "isa_report.py").write_text(FAKE_ISA_REPORT.format(status=isa_status))
    path = os.environ["PATH"] if hipcc else without("hipcc", folder)
    return {"PATH": f"{folder}:{path}", "ROCM_PATH": "/nonexistent"}


def without(program: str, folder: Path) -> str:
    links = folder / "links"
    links.mkdir()
    for name in os.environ["PATH"].split(":"):
        for path in Path(name).glob("*"):
            if path.name != program and not (links / path.name).is_symlink():
                (links / path.name).symlink_to(path)
    return str(links)


def run_on_host(sandbox: Sandbox, environment: dict[str, str], *arguments: str, status: int | None = None) -> Done:
    words = ("--no-setup", "--backend", "host", "--build-dir", str(sandbox.build), *arguments)
    return sandbox.run_all(*words, status=status, environment=environment)


def test_host_reports_on_the_compiled_code(sandbox: Sandbox, tmp_path: Path) -> None:
    done = run_on_host(sandbox, host_with_compiler(sandbox, tmp_path / "tools"), status=0)
    assert f"called with --out {sandbox.root}/results/isa --targets one --changed\n" in done.stdout
    assert "Compiled for AMD, not run: results/isa/README.md\n" in done.stdout


def test_report_on_the_compiled_code_goes_on_beside_the_experiments(sandbox: Sandbox, tmp_path: Path) -> None:
    environment = host_with_compiler(sandbox, tmp_path / "tools")
    (sandbox.root / "scripts" / "isa_report.py").write_text(
        f"trap 'touch {tmp_path}/ended; exit 143' TERM\ntouch {tmp_path}/started\nsleep 600 &\nwait\n"
    )
    (sandbox.bin / "copy_rate.hangs").touch()
    process = sandbox.start(
        "--no-setup", "--backend", "host", "--build-dir", str(sandbox.build), environment=environment
    )
    wait_for(sandbox.bin / "copy_rate.started")
    wait_for(tmp_path / "started")
    process.send_signal(signal.SIGINT)
    assert end_of(process).returncode == 130
    assert (tmp_path / "ended").exists() and (sandbox.bin / "copy_rate.terminated").exists()


def test_report_on_the_compiled_code_of_some(sandbox: Sandbox, tmp_path: Path) -> None:
    environment = host_with_compiler(sandbox, tmp_path / "tools")
    sandbox.add("copy_rate.wave64")
    out = tmp_path / "out"
    done = run_on_host(sandbox, environment, "--only", "rate", "--out", str(out), "--targets", "all", status=0)
    assert f"called with --out {out}/isa --targets all --changed --only ^(copy_rate|wave_rate)$\n" in done.stdout
    assert f"Compiled for AMD, not run: {out}/isa/README.md\n" in done.stdout


@pytest.mark.parametrize(
    "isa_status, status, said",
    [
        pytest.param(77, 0, "nothing, as said above", marks=pytest.mark.slow),
        (1, 1, "failed"),
        pytest.param(2, 1, "failed", marks=pytest.mark.slow),
    ],
)
def test_report_on_the_compiled_code_that_fails(
    sandbox: Sandbox, tmp_path: Path, isa_status: int, status: int, said: str
) -> None:
    done = run_on_host(sandbox, host_with_compiler(sandbox, tmp_path / "tools", isa_status), status=status)
    assert f"Compiled for AMD, not run: {said}\n" in done.stdout
    assert ("  isa_report.py\n" in done.stdout) == (status == 1)
    # The experiments' own results are there all the same.
    assert (sandbox.root / "results" / "host" / "README.md").exists()


def test_no_compiler_no_report_on_compiled_code(sandbox: Sandbox, tmp_path: Path) -> None:
    done = run_on_host(sandbox, host_with_compiler(sandbox, tmp_path / "tools", hipcc=False), status=0)
    assert "called with" not in done.stdout
    assert "Compiled for AMD, not run: nothing; there is no hipcc (scripts/setup.sh installs it)\n" in done.stdout


def test_no_report_on_compiled_code_where_there_is_a_gpu(sandbox: Sandbox, tmp_path: Path) -> None:
    environment = host_with_compiler(sandbox, tmp_path / "tools")
    sandbox.set_devices("0\tfake-gpu\tFake GPU, 8 CUs\n")
    done = sandbox.run_all("--no-setup", "--backend", "nvidia", environment=environment, status=0)
    assert "called with" not in done.stdout and "Compiled for AMD" not in done.stdout


@pytest.mark.parametrize("name", ["build.log", "CMakeCache.txt"])
def test_a_build_folder_of_another_user_is_one_sentence(sandbox: Sandbox, name: str) -> None:
    # A folder in its place is what not even root can write to.
    (sandbox.build / name).mkdir()
    done = sandbox.run_all("--backend", "nvidia", "--no-setup")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"run_all.sh: {sandbox.build / name} cannot be written: it is read-only, or another user "
        "has built there. Take another folder with --build-dir.\n"
    )
