"""Where this user's files are kept that can be made again: kernels, and what was measured on this machine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path | None:
    """The folder that the environment asks for; None when nothing is to be kept.

    >>> cache_folder({"RELAY_CACHE": "0"}) is None
    True
    >>> cache_folder({"RELAY_CACHE_DIR": "there"}).name
    'there'
    """
    if environment.get("RELAY_CACHE", "1") == "0":
        return None
    stated = environment.get("RELAY_CACHE_DIR")
    if stated:
        return Path(stated)
    user = environment.get("XDG_CACHE_HOME")
    return (Path(user) if user else Path.home() / ".cache") / "relay" / "kernels"
