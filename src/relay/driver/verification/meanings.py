"""What programs mean on made-up inputs: runs of the reference interpreter, within stated limits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from statistics import fmean

from relay.analysis.multiply_adds import get_total_mac_number
from relay.arith.expr import Symbol, evaluate, free_symbols
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.driver.verification.inputs import Draw, draws, parameter_types
from relay.driver.verification.observed import Seen, observed
from relay.driver.verification.options import VerifyOptions
from relay.interpret.evaluate import evaluate as interpreted
from relay.interpret.machine import CallOperator, by_meaning
from relay.ir.datatype import held_types
from relay.ir.expr import Function
from relay.ir.module import IRModule
from relay.ir.traversal import post_order
from relay.ir.type_traversal import tensor_types
from relay.ir.types import FuncType, RefType, Type

Run = Callable[..., object]
"""A program that is called with the arguments of `@main`."""

UNABLE = frozenset({"operator-without-meaning", "step-limit", "too-much-work"})
"""Rules of errors that speak of the interpreter's limits, not of the program."""
MORE_STEPS = 20
"""How many times as many nodes a pass may make of a program."""
_KEPT = 4


@frozen(eq=False)
class Signature:
    """What `@main` takes and gives."""

    names: tuple[str, ...]
    inputs: tuple[Type, ...]
    result: Type

    @staticmethod
    def of(module: IRModule) -> Signature:
        """Of a typed module. Raises `RelayError` (rule `cannot-make-up`) for types that are not known."""
        main = module["main"]
        type_ = main.checked_type
        result = type_.ret_type if isinstance(type_, FuncType) else main.ret_type
        inputs = tuple(parameter_types(module))
        if result is None:
            raise RelayError(rule="cannot-make-up", message="the type of what `@main` gives is not known")
        return Signature(tuple(param.name_hint for param in main.params), inputs, result)

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.inputs))}) -> {self.result}"


def observe(run: Run, signature: Signature, module: IRModule, draw: Draw) -> list[Seen]:
    """What a run on the inputs of a draw gives, and leaves in refs that it was given. Raises what the run raises."""
    arguments = draw.values(signature.inputs, module)
    result = run(*arguments)
    values: list[tuple[str, object, Type]] = [("result", result, signature.result)]
    for name, argument, type_ in zip(signature.names, arguments, signature.inputs, strict=True):
        if any(isinstance(each, RefType) for each in held_types(type_, module.type_definitions)):
            values.append((f"%{name} afterwards", argument, type_))
    return observed(values, module, draw, draw.extents(signature.inputs))


def by_interpreter(module: IRModule, step_limit: int, call_operator: CallOperator = by_meaning) -> Run:
    """`@main` of a module as its text means it."""
    return lambda *arguments: interpreted(module, arguments, step_limit=step_limit, call_operator=call_operator)


@dataclass(slots=True, eq=False)
class Meanings:
    """Modules run on the inputs that the program as it was given takes, one draw for each size."""

    options: VerifyOptions
    source: IRModule
    draws: tuple[Draw, ...] = ()
    reasons: dict[int, str] = field(default_factory=dict)
    """Why there are no inputs of some sizes."""
    _kept: list[tuple[IRModule, Draw, list[Seen]]] = field(default_factory=list)

    def choose(self) -> None:
        """Find inputs that the program takes."""
        chosen: list[Draw] = []
        for position, size in enumerate(self.options.sizes):
            seed = self.options.seed + position
            found, reason = accepted(draws(seed, size), lambda draw: self.of(self.source, draw))
            if found is None:
                self.reasons[size] = reason
            else:
                chosen.append(found)
        self.draws = tuple(chosen)

    def of(self, module: IRModule, draw: Draw) -> list[Seen]:
        """What a module gives on the inputs of a draw. Raises `RelayError`: `too-much-work`, and what the interpreter
        raises."""
        for kept, at, seen in self._kept:
            if kept is module and at == draw:
                return seen
        seen = self._run(module, draw, by_meaning)
        self._kept = [*self._kept[1 - _KEPT * len(self.options.sizes) :], (module, draw, seen)]
        return seen

    def moved(
        self, before: IRModule, after: IRModule, draw: Draw, call_operator: CallOperator
    ) -> list[tuple[list[Seen], list[Seen]]]:
        """What the program before a rewrite gives by operators that are called so, and by their meaning; where the one
        behind it rounds coarser, that of both."""
        modules = (before, after) if rounds_coarser(after, before) else (before,)
        return [(self._run(each, draw, call_operator), self.of(each, draw)) for each in modules]

    def _run(self, module: IRModule, draw: Draw, call_operator: CallOperator) -> list[Seen]:
        signature = Signature.of(module)
        expect_little_work(module, draw.extents(signature.inputs), self.options)
        limit = self.options.most_steps * (1 if module is self.source else MORE_STEPS)
        return observe(by_interpreter(module, limit, call_operator), signature, module, draw)

    def shown(self) -> tuple[str, ...]:
        """The draws in words."""
        types = Signature.of(self.source).inputs
        return tuple(each.shown(types) for each in self.draws)

    @property
    def reason(self) -> str:
        """Why there are fewer inputs than sizes; empty where there are as many."""
        return "; ".join(dict.fromkeys(self.reasons.values()))


def rounds_coarser(after: IRModule, before: IRModule) -> bool:
    """Whether a typed program computes with narrower floats than another, or with more of the narrow ones."""
    widths, as_before = _float_bits(after), _float_bits(before)
    return min(widths) < min(as_before) or fmean(widths) < fmean(as_before)


def _float_bits(module: IRModule) -> list[int]:
    """The widths of the floats that a typed program computes with; 64 where it has none."""
    nodes = post_order(*module.functions.values())
    leaves = [leaf for each in nodes if each.checked_type is not None for leaf in tensor_types(each.checked_type)]
    return [leaf.dtype.bits for leaf in leaves if leaf.dtype.is_float] or [64]


def reason_of(error: RelayError) -> str:
    """Why something was not run, in a line."""
    return f"{error.message} (expected: {error.expected})" if error.expected else error.message


def accepted(candidates: Iterable[Draw], run: Callable[[Draw], object]) -> tuple[Draw | None, str]:
    """The first draw that a run takes; else None, and why not. What a run raises is the program's answer to inputs
    that it was not made for: its operators may be a user's, so this may be anything."""
    reason = ""
    for draw in candidates:
        try:
            run(draw)
        except RelayError as error:
            reason = reason_of(error)
            if error.rule in UNABLE:
                break
        except Exception as error:
            reason = f"its meaning raises {type(error).__name__}: {error}"
        else:
            return draw, ""
    return None, reason


def expect_little_work(program: IRModule | Function, extents: dict[Symbol, int], options: VerifyOptions) -> None:
    """Raises `RelayError` (rule `too-much-work`) for what would take more multiply-adds than the options allow. Where
    only the run tells how many, the limit of steps holds alone."""
    try:
        total = get_total_mac_number(program)
    except RelayError:
        return
    if not free_symbols(total) <= set(extents):
        return
    count = evaluate(total, extents)
    if count > options.most_multiply_adds:
        raise RelayError(
            rule="too-much-work",
            message=f"a run in the interpreter takes {count:.2g} multiply-adds, of {options.most_multiply_adds:.2g}",
            remedy="allow more of them: VerifyOptions(most_multiply_adds=…)",
        )  # fmt: skip
