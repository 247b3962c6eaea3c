"""Every model of the list, compared with eager: `python -m tests.frontend.torch.campaign [--compiled] [NAME …]`."""

from __future__ import annotations

import argparse
import sys
import time
import warnings

from rich.console import Console

from relay.base.diagnostics import RelayError
from tests.frontend.torch.case import Case
from tests.frontend.torch.models import MODELS
from tests.frontend.torch.running import TOLERANCE, differences


def outcome(case: Case, *, dynamic: bool, compiled: bool) -> tuple[str, str]:
    """`agree`, `wrong`, `refused` (by name) or `failed`, and what there is to say about it."""
    try:
        worst = max(differences(case, dynamic=dynamic, compiled=compiled))
    except RelayError as error:
        refused = error.rule in ("unsupported-pytorch", "cannot-export")
        return ("refused" if refused else "failed"), " ".join(str(error).split())[:300]
    except Exception as error:  # whatever a model does, the others are run
        return "failed", f"{type(error).__name__}: {error}"
    return ("agree" if worst <= TOLERANCE else "wrong"), f"{worst:.1e}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.frontend.torch.campaign", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="parts of the names of models (default: all)")
    parser.add_argument("--compiled", action="store_true", help="natively, not by the reference interpreter")
    options = parser.parse_args()
    console = Console(highlight=False)
    counts: dict[str, int] = {}
    for case in MODELS:
        if options.names and not any(name in case.name for name in options.names):
            continue
        for dynamic in (False, True) if case.dynamic is not None else (False,):
            start = time.perf_counter()
            kind, text = outcome(case, dynamic=dynamic, compiled=options.compiled)
            counts[kind] = counts.get(kind, 0) + 1
            label = f"{case.name}{', dynamic' if dynamic else ''}"
            console.print(
                f"{label:40} {kind:8} {time.perf_counter() - start:6.1f} s  {text}", markup=False, soft_wrap=True
            )
    console.print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    return 0 if set(counts) <= {"agree", "refused"} else 1


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
