"""CONTRIBUTING.md against the repository: what it shows compiles, and what it names is there."""

from __future__ import annotations

import re
import shutil
import textwrap

import pytest
from conftest import call
from synthetic import REPOSITORY

TEXT = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
# What the reader is to add.
NEW = "fill_rate"


def example() -> str:
    found = re.search(r"^ *```cpp\n(.*?)^ *```$", TEXT, re.MULTILINE | re.DOTALL)
    assert found
    return textwrap.dedent(found[1])


def test_the_example_compiles_without_a_warning() -> None:
    # The loops' pragmas are for other compilers.
    command = "c++ -std=c++20 -fsyntax-only -Wall -Wextra -Wshadow -Wno-unknown-pragmas -Werror -x c++ -"
    options = "-DHIPSCOPE_BACKEND_HOST -I include -I backends/host/include"
    call(*command.split(), *options.split(), input=example(), cwd=REPOSITORY, status=0)


@pytest.mark.skipif(shutil.which("clang-format") is None, reason="there is no clang-format")
def test_the_example_is_laid_out_as_the_sources_are() -> None:
    command = ("clang-format", "--dry-run", "-Werror", f"--assume-filename=src/{NEW}.cpp")
    call(*command, input=example(), cwd=REPOSITORY, status=0)


def test_paths_lead_somewhere() -> None:
    prose = TEXT.replace(textwrap.indent(example(), "   ", bool), "")
    paths = re.findall(r"(?<![\w./-])((?:src|scripts|tests|include|results)/[\w./-]*\w/?)", prose)
    named = {path for path in paths if NEW not in path}
    assert len(named) > 15
    assert [path for path in named if not (REPOSITORY / path).exists()] == []


def test_options_of_scripts_are_theirs() -> None:
    calls = re.findall(r"scripts/(\w+\.(?:sh|py))((?: +[^\s#`\"()]+)*)", TEXT)
    options = {(script, option) for script, rest in calls for option in re.findall(r"--[a-z-]+", rest)}
    assert len(options) >= 4
    for script, option in options:
        text = (REPOSITORY / "scripts" / script).read_text(encoding="utf-8")
        assert re.search(rf"{option}\b", text), f"{script} {option}"


def test_a_card_is_sent_in_by_one_folder_and_the_template_that_is_linked() -> None:
    named = re.search(r"\?expand=1&template=(\S+)`", TEXT)
    assert named
    template = (REPOSITORY / ".github" / "PULL_REQUEST_TEMPLATE" / named[1]).read_text(encoding="utf-8")
    assert "nothing else is changed" in template and "measured where" not in template
