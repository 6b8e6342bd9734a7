"""The forge's workflows: their commands are sound shell, and name what is there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from synthetic import REPOSITORY

WORKFLOWS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))


def jobs(path: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values())


def commands(path: Path) -> list[str]:
    """What its steps run, with a word in place of what the forge fills in."""
    runs = [step["run"] for job in jobs(path) for step in job["steps"] if "run" in step]
    return [re.sub(r"\$\{\{.*?\}\}", "host", one) for one in runs]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_runs_what_is_there_and_ends(path: Path) -> None:
    assert all(job["timeout-minutes"] <= 360 for job in jobs(path))
    text = "\n".join(commands(path))
    for command in re.findall(r"(?<![\w/])(?:\./|scripts/)[\w./]*\w", text):
        assert (REPOSITORY / command).exists(), command
    for script, option in re.findall(r"(scripts/\w+\.\w+) (--[a-z]+)", text):
        assert option in (REPOSITORY / script).read_text(encoding="utf-8"), option


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="there is no shellcheck")
@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_its_commands_are_sound(path: Path) -> None:
    for text in commands(path):
        done = subprocess.run(["shellcheck", "-s", "sh", "-"], input=text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


def test_a_release_packs_every_backend_by_its_preset() -> None:
    package, release = jobs(REPOSITORY / ".github" / "workflows" / "release.yml")
    backends = [one["backend"] for one in package["strategy"]["matrix"]["include"]]
    presets = json.loads((REPOSITORY / "CMakePresets.json").read_text(encoding="utf-8"))["configurePresets"]
    assert sorted(backends) == ["amd", "host", "nvidia"]
    assert set(backends) < {preset["name"] for preset in presets}
    assert release["needs"] == "package"


def test_an_image_is_of_the_commit() -> None:
    """What is left out of it git ignores, so that no revision is said to be changed; .git is there to be asked."""
    lines = (REPOSITORY / ".dockerignore").read_text(encoding="utf-8").splitlines()
    names = [line.replace("*", "x") for line in lines if not line.startswith("#")]
    for name in names:
        done = subprocess.run(["git", "check-ignore", "-q", f"{name}/"], cwd=REPOSITORY, check=False)
        assert done.returncode == 0, name
