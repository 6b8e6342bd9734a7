"""Only one header reads the cycle counter: elsewhere its width would be forgotten."""

import re

from synthetic import REPOSITORY

COUNTER = re.compile(
    r"(?<![\w.:>])clock\(\)(?! const)|\b(clock64|__clock64|__clock|__clock_u64|"
    r"__builtin_readcyclecounter|__builtin_amdgcn_s_memtime)\s*\(|s_memtime|SHADER_CYCLES|%clock"
)
READER = "include/hipscope/cycle_counter.h"


def readings(path):
    """The lines of the file that read the counter."""
    lines = path.read_text().splitlines()
    code = (line.split("//")[0] for line in lines)
    return [line.strip() for line in code if COUNTER.search(line)]


def kernel_sources():
    """Everything that may hold device code."""
    folders = ("include", "src", "tests/device")
    return [
        path
        for folder in folders
        for path in sorted((REPOSITORY / folder).rglob("*"))
        if path.suffix in (".h", ".hip", ".hpp")
    ]


def test_the_counter_is_read_in_one_place():
    found = {str(path.relative_to(REPOSITORY)): readings(path) for path in kernel_sources()}
    elsewhere = {name: lines for name, lines in found.items() if lines and name != READER}
    assert not elsewhere
    assert found[READER] == ["__device__ inline long long cycle_count() { return clock64(); }"]
