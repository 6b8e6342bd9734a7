"""`hipscope`, the one command in front of the scripts."""

from __future__ import annotations

import re
import shutil
from functools import partial

import pytest
import synthetic
from conftest import call

from hipscope.report import exports

COMMAND = synthetic.REPOSITORY / "hipscope"
run = partial(call, COMMAND)
HELP = run("--help", status=0).stdout
COMMANDS = re.findall(r"^  ([a-z]+)  ", HELP, re.MULTILINE)


def completed(*words: str) -> set[str]:
    """What bash offers in place of the last word."""
    script = f"""PATH={COMMAND.parent}:$PATH; source <(hipscope completion)
COMP_WORDS=(hipscope "$@"); COMP_CWORD=$#; _hipscope; printf '%s\\n' "${{COMPREPLY[@]}}" """
    return set(call("bash", "-c", script, "bash", *words, status=0).stdout.split())


@pytest.mark.parametrize("command", [one for one in COMMANDS if one not in ("completion", "man")])
def test_each_command_that_is_named_is_there(command: str) -> None:
    done = run(command, "--help", status=0)
    assert "sage: " in done.stdout, done.stderr
    assert run("help", command).stdout == done.stdout


def test_commands_and_options_are_completed_from_the_help() -> None:
    assert completed("") == {*COMMANDS, "--help", "--version"} and len(COMMANDS) > 6
    assert completed("co") == {"compare", "completion"}
    assert completed("run", "--ca") == {"--card"}
    assert completed("normal", "--a") == {"--against"}
    assert completed("help", "co") == {"compare", "completion"}
    assert completed("export", "") == set(exports.FORMATS)
    assert completed("fleet", "") == {"run", "report", "simulate"}
    assert completed("export", "csv", "") == set()  # a folder's name is bash's own


@pytest.mark.skipif(shutil.which("groff") is None, reason="there is no groff")
def test_the_manual_page_has_the_help_of_every_command() -> None:
    page = run("man").stdout
    headings = ",".join(re.findall('^.SH "HIPSCOPE (.*)"$', page, re.MULTILINE)).lower().split(",")
    assert sorted([*headings, "completion", "man"]) == sorted(COMMANDS)
    shown = call("groff", "-man", "-ww", "-Tascii", "-P-c", input=page, status=0)
    assert shown.stderr == ""
    lines = {line.strip() for line in re.sub(".\b", "", shown.stdout).splitlines()}
    wanted = [HELP, run("fleet", "--help").stdout, run("card", "--help").stdout]
    assert {line.strip() for text in wanted for line in text.splitlines()} - lines == set()


def test_the_card_is_a_run() -> None:
    assert "--device takes an index such as 0" in run("card", "--device", "first").stderr


@pytest.mark.parametrize("arguments", [(), ("frobnicate",)])
def test_bad_usage_is_one_sentence(arguments: tuple[str, ...]) -> None:
    done = run(*arguments, status=2)
    assert done.stderr.startswith("hipscope: ") and done.stderr.count("\n") == 1
