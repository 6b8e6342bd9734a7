"""The interpreter that has the modules: of several on a machine the first on PATH may not be the one."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

FIND_PYTHON = Path(__file__).resolve().parents[2] / "find_python.sh"


def is_complete(*modules: str) -> bool:
    """Whether this interpreter has all of the modules; starts the script anew in one that has, if there is one.

    Else it has said in a sentence what to install.
    """
    if all(importlib.util.find_spec(module) for module in modules):
        return True
    found = subprocess.run([FIND_PYTHON, *modules], stdout=subprocess.PIPE, text=True, check=False)
    if found.returncode == 0:
        python = found.stdout.strip()
        os.execv(python, [python, *sys.argv])
    return False
