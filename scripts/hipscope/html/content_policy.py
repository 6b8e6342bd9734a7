"""What a page may load, run and be styled by."""

from __future__ import annotations

import base64
import hashlib


def _hash(content: str) -> str:
    """The content's hash, as a Content-Security-Policy takes it."""
    return "'sha256-" + base64.b64encode(hashlib.sha256(content.encode("utf-8")).digest()).decode("ascii") + "'"


def content_policy(style: str, script: str) -> str:
    """The Content-Security-Policy of a page that loads nothing and has one style sheet and one script, these."""
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    )
