"""Every model of the list, compared with eager: `python -m tests.frontend.torch.campaign [--compiled] [NAME …]`."""

from __future__ import annotations

import argparse
import sys
import time
import warnings

from rich.console import Console

from relay.base.diagnostics import RelayError
from relay.frontend.torch import Coverage
from tests.frontend.torch.case import Case
from tests.frontend.torch.models import MODELS
from tests.frontend.torch.running import TOLERANCE, captured, differences

LEAST_NATIVE = 0.95
"""Of all operators that Dynamo captures of the models, the part that must run natively."""


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


def outcome_captured(case: Case, *, dynamic: bool, covered: list[Coverage]) -> tuple[str, str]:
    """The same through `torch.compile`. What ran natively is added to what is `covered`."""
    try:
        gaps, coverage = captured(case, dynamic=dynamic)
    except Exception as error:  # whatever a model does, the others are run
        return "failed", f"{type(error).__name__}: {error}"
    covered.append(coverage)
    return ("agree" if max(gaps) <= TOLERANCE else "wrong"), f"{max(gaps):.1e}  {coverage}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.frontend.torch.campaign", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="parts of the names of models (default: all)")
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--compiled", action="store_true", help="natively, not by the reference interpreter")
    way.add_argument("--captured", action="store_true", help='through torch.compile(…, backend="relay")')
    options = parser.parse_args()
    console = Console(highlight=False)
    counts: dict[str, int] = {}
    covered: list[Coverage] = []
    for case in MODELS:
        if options.names and not any(name in case.name for name in options.names):
            continue
        for dynamic in (False, True) if case.dynamic is not None else (False,):
            start = time.perf_counter()
            if options.captured:
                kind, text = outcome_captured(case, dynamic=dynamic, covered=covered)
            else:
                kind, text = outcome(case, dynamic=dynamic, compiled=options.compiled)
            counts[kind] = counts.get(kind, 0) + 1
            label = f"{case.name}{', dynamic' if dynamic else ''}"
            console.print(
                f"{label:40} {kind:8} {time.perf_counter() - start:6.1f} s  {text}", markup=False, soft_wrap=True
            )
    console.print(", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    whole = Coverage(sum(each.native for each in covered), {("", ""): sum(each.left for each in covered)})
    if options.captured:
        console.print(str(whole).partition("\n")[0])
    return 0 if set(counts) <= {"agree", "refused"} and whole.share >= LEAST_NATIVE else 1


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
