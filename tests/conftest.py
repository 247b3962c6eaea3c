"""How generated tests are run: the same examples every time, so that a change is judged by what it changed.

`RELAY_FUZZ=1` draws new examples at every run: that is `make fuzz`, the long campaign of which the suite runs a slice.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("suite", derandomize=True)
settings.register_profile("fuzz", derandomize=False)
settings.load_profile("fuzz" if os.environ.get("RELAY_FUZZ") == "1" else "suite")
