"""The documents' table of stages by GPU is what the stages declare."""

from __future__ import annotations

import subprocess

from conftest import BUILD, SOURCE


def test_the_documents_have_what_the_stages_declare() -> None:
    done = subprocess.run(
        [SOURCE / "scripts" / "stages.py", "--check", BUILD / "bin"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
