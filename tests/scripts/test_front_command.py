"""`hipscope`, the one command in front of the scripts."""

from __future__ import annotations

import re
import subprocess

import pytest
import synthetic

COMMAND = synthetic.REPOSITORY / "hipscope"
HELP = subprocess.run([COMMAND, "--help"], capture_output=True, text=True, check=True).stdout
COMMANDS = re.findall(r"^  ([a-z]+)  ", HELP, re.MULTILINE)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the command."""
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=False)


def completed(*words: str) -> set[str]:
    """What bash offers in place of the last word."""
    script = f"""PATH={COMMAND.parent}:$PATH; source <(hipscope completion)
COMP_WORDS=(hipscope "$@"); COMP_CWORD=$#; _hipscope; printf '%s\\n' "${{COMPREPLY[@]}}" """
    done = subprocess.run(["bash", "-c", script, "bash", *words], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("command", [one for one in COMMANDS if one != "completion"])
def test_each_command_that_is_named_is_there(command: str) -> None:
    done = run(command, "--help")
    assert done.returncode == 0 and "sage: " in done.stdout, done.stderr


def test_commands_and_options_are_completed_from_the_help() -> None:
    assert completed("") == {*COMMANDS, "--help", "--version"} and len(COMMANDS) > 6
    assert completed("co") == {"compare", "completion"}
    assert completed("run", "--ca") == {"--card"}
    assert completed("normal", "--a") == {"--against"}


def test_the_card_is_a_run() -> None:
    assert "--device takes an index such as 0" in run("card", "--device", "first").stderr


@pytest.mark.parametrize("arguments", [(), ("frobnicate",)])
def test_bad_usage_is_one_sentence(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.returncode == 2 and done.stderr.startswith("hipscope: ") and done.stderr.count("\n") == 1
