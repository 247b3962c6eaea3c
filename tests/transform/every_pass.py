"""Every pass, and passes in random order, on generated programs of the whole language and on generated networks.

What a pass makes is well-formed, typed, means what the program meant (bit for bit where the pass says EXACT), and a
second run changes nothing. The suite runs a slice; `python -m tests.transform.every_pass [count] [--seed seed]` is the
campaign: as many programs of each kind. It says for how many each pass had something to do, and fails when that were
few in a long run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from rich.columns import Columns
from rich.console import Console

from relay.base.diagnostics import RelayError
from relay.base.floating_point import FloatingPointClass
from relay.driver.verification.distance import judged
from relay.driver.verification.meanings import rounds_coarser
from relay.driver.verification.observed import Seen
from relay.infer.infer_type import infer_type
from relay.interpret.evaluate import evaluate
from relay.interpret.machine import CallOperator, by_meaning
from relay.ir.expr import Call, Function, GlobalVar, Op, TupleGetItem, Var
from relay.ir.module import IRModule
from relay.ir.structural import structural_equal
from relay.ir.well_formed import well_formed
from relay.ops.transformations import LINEARIZE, WrtAttributes
from relay.transform.framework.passes import AnyPass
from relay.transform.functions.inline import INLINE
from relay.transform.functions.normal_forms import ToCPS
from relay.transform.functions.remove_unused_functions import RemoveUnusedFunctions
from relay.transform.fusion import FuseOps
from relay.transform.gradients.apply_transformations import ApplyTransformations
from relay.transform.layout.convert_layout import ConvertLayout
from tests.programs import campaign
from tests.programs.differential import STEP_LIMIT, Disagreement, plain, write_repro
from tests.programs.generate import Program, programs
from tests.programs.networks import networks
from tests.programs.trees import trees
from tests.transform.passes import CONTEXT, NOT_IDEMPOTENT, PASSES, floating_point_of
from tests.transform.recursions import recursions

CHANNELS_LAST = ConvertLayout({"nn.conv2d": ("NHWC", "default")})  # generated images are NCHW
CHECKED = {**PASSES, "ConvertLayout": CHANNELS_LAST}


def _marked(module: IRModule) -> IRModule:
    """Every function but `@main` is to be put in place where it is called."""
    marked = {
        name: function if name.name_hint == "main" else function.with_attr(INLINE, 1)
        for name, function in module.functions.items()
    }
    return module.with_functions(marked)


def _linearized(module: IRModule) -> IRModule:
    """The value of `@main` as the first part of what `linearize` gives of it."""
    main = module["main"]
    value = GlobalVar("value_of_main")
    params = tuple(Var(each.name_hint, each.type_annotation) for each in main.params)
    both = Call(Call(Op(LINEARIZE), (value,), WrtAttributes()), params)
    renamed = {(value if name.name_hint == "main" else name): each for name, each in module.functions.items()}
    return infer_type(module.with_functions({**renamed, GlobalVar("main"): Function(params, TupleGetItem(both, 0))}))


PREPARED: Mapping[str, Callable[[IRModule], IRModule]] = {
    "ApplyTransformations": _linearized, "Conv2DToWinograd": CHANNELS_LAST, "DefuseOps": FuseOps, "Inline": _marked,
    "RemoveUnusedResults": lambda module: ApplyTransformations(_linearized(module)), "UnCPS": ToCPS,
}  # fmt: skip
"""What must have been done before a pass has something to do."""

KINDS: Mapping[str, st.SearchStrategy[Program]] = {
    "programs": programs(), "recursions": recursions(), "trees": trees(), "networks": networks(),
}  # fmt: skip
LONG, SELDOM = 2_000, 0.01
"""After so many programs every pass must have had something to do in that share of those of one kind."""

LONGEST_ORDER = 6


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    program: Program
    order: tuple[str, ...]
    """Passes to be run one after another."""

    def __repr__(self) -> str:
        return f"{self.program!r}\norder: {', '.join(self.order)}"


@st.composite
def examples(draw: Callable[[st.SearchStrategy[Any]], Any], of: st.SearchStrategy[Program]) -> Example:
    order = draw(st.lists(st.sampled_from(sorted(CHECKED)), min_size=2, max_size=LONGEST_ORDER))
    return Example(draw(of), tuple(order))


def compare(example: Example) -> Counter[str]:
    """Raises when a pass, or the order, changes what the program means. What is given back counts the passes that
    changed the program, and under `refused NAME` those that refused it."""
    program = example.program
    whole = infer_type(program.module)
    meant = _value(whole, program)
    did: Counter[str] = Counter()
    before = RemoveUnusedFunctions(whole)  # much of the prelude, which would cost every pass time
    did["InferType"] += whole is not program.module
    did["RemoveUnusedFunctions"] += before is not whole
    for name, each in CHECKED.items():
        given = _applied(name, PREPARED[name], before, did) if name in PREPARED else before
        after = _applied(name, each, given, did)
        if after is given:
            continue
        did[name] += 1
        _assert_sound(name, after, before, program, meant, floating_point_of(each))
        again = _applied(name, each, after, did)
        if name not in NOT_IDEMPOTENT and not _equal(again, after):
            raise Disagreement(f"a second {name} changes something")
    after, loosest = before, FloatingPointClass.EXACT
    for name in example.order:
        after = _applied(name, CHECKED[name], after, did)
        loosest = max(loosest, floating_point_of(CHECKED[name]))
    _assert_sound(" then ".join(example.order), after, before, program, meant, loosest)
    return did


def _applied(name: str, each: AnyPass, module: IRModule, did: Counter[str]) -> IRModule:
    try:
        with CONTEXT:
            return each(module)
    except RelayError:
        did[f"refused {name}"] += 1
        return module
    except Exception as error:
        raise Disagreement(f"{name} fails: {error}") from error


def _equal(left: IRModule, right: IRModule) -> bool:
    return left is right or bool(structural_equal(left, right))


def _value(module: IRModule, program: Program, call_operator: CallOperator = by_meaning) -> list[Seen]:
    return seen(plain(evaluate(module, program.arguments, step_limit=STEP_LIMIT, call_operator=call_operator)))


def _assert_sound(
    name: str, after: IRModule, before: IRModule, program: Program, meant: list[Seen], may: FloatingPointClass
) -> None:
    problems = well_formed(after)
    if problems:
        raise Disagreement(f"{name} makes an ill-formed program: {problems[0]}")
    found = _value(after, program)
    rounding = (before, after) if rounds_coarser(after, before) else (before,)
    verdict = judged(
        found, meant, may, lambda by: [(_value(each, program, by), _value(each, program)) for each in rounding]
    )
    if not verdict.is_right:
        raise Disagreement(f"{verdict.distance.place}: after {name} {verdict.distance.what}")


def seen(value: Any) -> list[Seen]:
    """The parts of a result that `plain` made."""
    found: list[Seen] = []
    stack = [("result", value)]
    while stack:
        path, each = stack.pop()
        if isinstance(each, tuple):
            stack += [(f"{path}.{at}", part) for at, part in enumerate(each)]
        else:
            found.append(Seen(path, each))
    return found


def check(example: Example, folder: Path) -> Counter[str]:
    """`compare`; a failure leaves a folder with the program."""
    try:
        return compare(example)
    except Exception as error:
        place = write_repro(example.program, 0, folder, error)
        raise Disagreement(f"{type(error).__name__}: {error}\norder {example.order}; kept in {place}") from error


class Reached:
    """For how many programs of each kind each pass changed something, and which it refused."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        """The programs of a kind by its name; those that a pass changed by `kind: pass`."""

    def check(self, drawn: tuple[Example, ...], folder: Path) -> None:
        for kind, example in zip(KINDS, drawn, strict=True):
            did = check(example, folder)
            self.counts[kind] += 1
            self.counts.update(f"{kind}: {name}" for name, times in did.items() if times)

    def changed(self, name: str) -> int:
        return sum(self.counts[f"{kind}: {name}"] for kind in KINDS)

    def share(self, name: str) -> tuple[float, str]:
        """Of the kind whose programs a pass changed most often: how often, and which kind it is."""
        return max((self.counts[f"{kind}: {name}"] / max(1, self.counts[kind]), kind) for kind in KINDS)

    def report(self, console: Console, ran: int) -> None:
        """What a pass refused stands behind, where it did."""
        lines: list[str] = []
        for name in CHECKED:
            often, kind = self.share(name)
            refused = self.changed(f"refused {name}")
            shown = f" ({refused} refused)" if refused else ""
            lines.append(f"{self.changed(name):6} {often:6.1%} of {kind:10} {name}{shown}")
        console.print("programs in which a pass changed something", Columns(lines, padding=(0, 4), column_first=True))
        seldom = [name for name in CHECKED if self.share(name)[0] < SELDOM]
        if seldom and len(KINDS) * ran >= LONG:
            raise SystemExit(f"had something to do in less than {SELDOM:.0%} of the programs: {', '.join(seldom)}")


if __name__ == "__main__":
    reached = Reached()
    each_kind = st.tuples(*map(examples, KINDS.values()))
    campaign.run("tests.transform.every_pass", __doc__, each_kind, reached.check, 5_000, reached.report, reached.counts)
