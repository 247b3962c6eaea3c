"""Every model of the list, compared with eager: `python -m tests.frontend.torch.campaign [--training] [NAME …]`."""

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
from tests.frontend.torch.training import learns, trained

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


def outcome_trained(case: Case, *, dynamic: bool, covered: list[Coverage]) -> tuple[str, str]:
    """The same of a step forward and backward: of its loss, all gradients and the buffers that it changes; `nothing` if
    no gradient is asked for."""
    try:
        if not learns(case):
            return "nothing", "to learn"
        found = trained(case, dynamic=dynamic)
    except Exception as error:  # whatever a model does, the others are run
        return "failed", " ".join(f"{type(error).__name__}: {error}".split())[:300]
    covered.append(found.coverage)
    exact = f"{'float64' if found.is_wide else 'float32'} {found.exact:.1e}"
    told = f"{exact}, float32 {found.ratio:.1f} of eager's ({found.worst})  {found.coverage}"
    return ("agree" if found.agrees else "wrong"), told


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.frontend.torch.campaign", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="parts of the names of models (default: all)")
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--compiled", action="store_true", help="natively, not by the reference interpreter")
    way.add_argument("--captured", action="store_true", help='through torch.compile(…, backend="relay")')
    way.add_argument("--training", action="store_true", help="the same, with gradients")
    options = parser.parse_args()
    console = Console(highlight=False)
    counts: dict[str, int] = {}
    covered: list[Coverage] = []
    for case in MODELS:
        if options.names and not any(name in case.name for name in options.names):
            continue
        for dynamic in (False, True) if case.dynamic is not None else (False,):
            start = time.perf_counter()
            if options.training:
                kind, text = outcome_trained(case, dynamic=dynamic, covered=covered)
            elif options.captured:
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
    if options.captured or options.training:
        console.print(str(whole).partition("\n")[0])
    return 0 if set(counts) <= {"agree", "refused", "nothing"} and whole.share >= LEAST_NATIVE else 1


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
