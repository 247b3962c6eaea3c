"""Kernels of a program: primitive functions that compute the same thing are one kernel, lowered and compiled once.

A kernel is known by the text of its function, types included; its object is looked up in the cache under that text, the
target and the compiler's version before anything is lowered.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from typing import TYPE_CHECKING, TypeVar

from relay.arith.expr import Comparison, Symbol
from relay.base.diagnostics import CompilerBug, Origin, RelayError
from relay.base.frozen import frozen, mutable
from relay.base.names.loading import when_called
from relay.base.stopwatch import Stopwatch, part_of
from relay.ir.attributes import attribute_symbols
from relay.ir.expr import Call, Function, Op
from relay.ir.traversal import post_order
from relay.ir.type_traversal import type_symbols
from relay.ir.types import TensorType
from relay.lower.kernels.external import external_key, is_external, is_opaque, signature_symbols
from relay.lower.kernels.group import GAP, Group, expect_loops, make_group
from relay.lower.kernels.index_faults import tells_of_body
from relay.lower.kernels.named_extents import with_named_extents
from relay.lower.kernels.updates import updated_input
from relay.lower.kernels.value_extents import open_symbols
from relay.lower.planning.in_place import in_place_inputs
from relay.lower.planning.kernel_calls import KernelInfo
from relay.lower.planning.scratch import Scratch, kernel_scratch
from relay.lower.procedures.device_regions import is_device_region
from relay.lower.targets import KernelTarget, Refused, Supported
from relay.ops.framework.record import OperatorRecord
from relay.ops.table import OPERATORS
from relay.te.lowering.lower import lower as lower_to_loops
from relay.te.schedule.choice import Choice, Condition, Variant
from relay.te.schedule.records import ScheduleRecord, ScheduleRecords
from relay.te.schedule.step import Step
from relay.text.printer import astext
from relay.tir.stmt import PrimFunc
from relay.tir.text.printer import print_primfunc
from relay.transform.devices.offload import TARGET
from relay.transform.framework.external import checked_answer

if TYPE_CHECKING:
    from relay.te.notation.schedule import Schedule

_NEW_SCHEDULE = when_called("relay.te.notation.schedule", "Schedule")

Code = TypeVar("Code")


@frozen(eq=False)
class Kernel:
    """One kernel: the primitive function it computes, and each of its forms, made on request."""

    info: KernelInfo
    function: Function
    text: str
    target: KernelTarget
    recorded: ScheduleRecord | None = None
    refusals: tuple[str, ...] = ()
    """Why targets that were asked before did not take it."""

    @property
    def key(self) -> str:
        """What the kernel's code depends on, besides the target and the compiler. What an operator of a user's computes
        is not told by its name: the loops are."""
        if not self.is_external and any(OPERATORS.get(each.name) is not each for each in operators_in(self.function)):
            return f"{self.text}\n{print_primfunc(self.loops())}"
        return self.text if self.recorded is None else f"{self.text}\n{self.recorded.schedule_text}"

    @property
    def is_external(self) -> bool:
        """Whether another compiler makes its code."""
        return is_external(self.function)

    def group(self) -> Group:
        """Raises `RelayError` (rule `external-kernel`) for a kernel whose code another compiler makes."""
        if self.is_external:
            raise RelayError(
                rule="external-kernel",
                message=f"the kernel {self.info.name} is made by the compiler `{self.function.attrs['Compiler']}`",
                remedy="ask that compiler what it made",
            )
        return make_group(self.function)

    def schedule(self, group: Group | None = None) -> tuple[Step, ...]:
        """The steps on record for this kernel, or of the choice on record; else those that an operator of it brings,
        or its target chooses.

        Raises `RelayError` (rule `schedule-record`) for a choice on record that is not possible, or has other steps."""
        group, record = self.group() if group is None else group, self.recorded
        if record is None:
            brought = self.brought_schedule(group)
            return self.target.schedule(group) if brought is None else brought.steps
        with self._by_record():
            steps = record.steps if record.choice is None else self.target.steps(group, record.choice)
            if record.steps is not None and steps != record.steps:
                raise RelayError(
                    rule="schedule-choice",
                    message="its steps are not those of its choice",
                    remedy="remove one of the two",
                )
            return steps or ()

    def brought_schedule(self, group: Group) -> Schedule | None:
        """The schedule by the first of its operators that brings one for this target. Raises what that raises."""
        for record in operators_in(self.function):
            rule = record.schedules.get(self.target.target.kind)
            if rule is not None:
                return rule(_NEW_SCHEDULE(group.outputs, (), self.target.intrinsics, self.target.hierarchy))
        return None

    def variants(self, group: Group) -> tuple[tuple[Comparison, tuple[Step, ...]], ...]:
        """The steps for some extents, of the variants of the choice on record, or of the target's, each with its
        condition. Raises what `schedule` raises."""
        if not self.info.symbols and self.recorded is None:
            return ()
        if self.recorded is None and self.brought_schedule(group) is not None:
            return ()
        choice = self.target.choice(group) if self.recorded is None else self.recorded.choice
        with self._by_record():
            variants = () if choice is None else choice.variants
            return tuple((self._comparison(each.when), self.target.steps(group, each.choice)) for each in variants)

    def _comparison(self, condition: Condition) -> Comparison:
        """A condition on an extent of this kernel."""
        symbols = {symbol.name: symbol for symbol in self.info.symbols}
        if condition.symbol in symbols:
            return Comparison(symbols[condition.symbol], condition.comparison, condition.number)
        raise RelayError(
            rule="schedule-choice",
            message=f"a variant is for calls where {condition}, and no extent is called {condition.symbol}",
            expected=f"a condition on one of {', '.join(symbols)}" if symbols else "no variants: extents are numbers",
            found=str(condition),
        )

    def choice(self) -> Choice | None:
        """What is decided about the schedule, on record and by its target; None where steps are on record,
        or an operator brings them.

        Raises what `schedule` raises."""
        group, record = self.group(), self.recorded
        if record is None:
            return self.target.choice(group) if self.brought_schedule(group) is None else None
        if record.choice is None:
            return None
        with self._by_record():
            variants = [Variant(each.when, self.target.choice(group, each.choice)) for each in record.choice.variants]
            return replace(self.target.choice(group, record.choice), variants=tuple(variants))

    def loops(self, watch: Stopwatch | None = None) -> PrimFunc:
        """The scheduled kernel as loops, before they are made ready for emission.

        Raises `RelayError` (rule `schedule-record`) when a schedule on record cannot be followed."""
        with part_of(watch, "tensor expressions"):
            group = self.group()
        with part_of(watch, "schedule"):
            steps, variants = self.schedule(group), self.variants(group)
            brought = self.brought_schedule(group)
            intrinsics = self.target.intrinsics if brought is None else brought.intrinsics
        with self._by_record(), part_of(watch, "lower to loops"):
            how = intrinsics, self.target.hierarchy, variants
            function = lower_to_loops(group.outputs, group.inputs, steps, self.info.name, *how)
        unknown = [symbol for symbol in function.symbols if symbol not in self.info.symbols]
        if unknown:
            raise CompilerBug("lower", f"{self.info.name} takes {function.symbols}, not {self.info.symbols}")
        return replace(function, symbols=self.info.symbols, attributes=self._aliases(function))

    def _aliases(self, function: PrimFunc) -> tuple[tuple[str, str], ...]:
        """Tells emission which parameters may be the same memory."""
        shared = [function.parameters[position].name for position in self.info.in_place]
        return (("may_alias", ",".join((*shared, *(each.name for each in function.outputs)))),) if shared else ()

    def lowered(self, watch: Stopwatch | None = None) -> PrimFunc:
        """The loops, ready for emission. Raises what `loops` raises."""
        loops = self.loops(watch)
        with self._by_record(), part_of(watch, "passes over loops"):
            return self.target.lower(loops)

    def emitted(self, emit: Callable[[PrimFunc], Code], watch: Stopwatch | None = None) -> Code:
        """What `emit` makes of the loops, ready for emission. `watch` is told how long each step took. Raises what
        `loops` raises."""
        lowered = self.lowered(watch)
        with self._by_record(), part_of(watch, "emit text"):
            return emit(lowered)

    def source(self) -> str:
        """The kernel in the target's language. Raises what `loops` raises."""
        return self.emitted(self.target.text)

    def scratch(self) -> Scratch:
        """What the kernel works in. Raises what `loops` raises."""
        return Scratch(self.info.symbols) if self.is_external else kernel_scratch(self.lowered())

    def assembly(self) -> str:
        """What the machine will run. Raises what `loops` raises."""
        return self.emitted(self.target.assembly)

    @contextmanager
    def _by_record(self) -> Generator[None]:
        """What fails inside is the fault of the schedule, if that is on record."""
        try:
            yield
        except (RelayError, CompilerBug) as error:
            if self.recorded is None:
                raise
            raise _refused(self.info.name, self.recorded, error) from error


@mutable(eq=True)
class KernelTable:
    """The kernels of a program, in the order in which they were met. `targets` are asked for each group, in order,
    those of devices for the groups of their regions;
    formulas of scalars are the `host`'s, which computes them where they are needed."""

    targets: Sequence[KernelTarget]
    host: KernelTarget
    records: ScheduleRecords = field(default_factory=ScheduleRecords)
    by_text: dict[str, Kernel] = field(default_factory=dict)
    by_function: dict[Function, KernelInfo] = field(default_factory=dict)

    def kernel_of(self, function: Function) -> KernelInfo:
        """The kernel of a primitive function, in terms of its symbols; equal functions share one."""
        known = self.by_function.get(function)
        if known is None:
            named, names = (function, {}) if is_opaque(function) else with_named_extents(function)
            text = external_key(function) if is_external(function) else astext(named, show_meta_data=True)
            kernel = self.by_text.get(text)
            if kernel is None:
                kernel = self._kernel(named, text)
                self.by_text[text] = kernel
            extents = tuple(names.get(symbol, symbol) for symbol in kernel_symbols(named))
            known = self.by_function[function] = replace(kernel.info, extents=extents)
        return known

    def _kernel(self, function: Function, text: str) -> Kernel:
        symbols = kernel_symbols(function)
        if is_external(function):
            target, refusals = self._placed(function)
            info = KernelInfo(str(function.attrs["name"]), symbols, symbols)
            return Kernel(info, function, text, target, refusals=refusals)
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        stem = str(function.attrs.get("name", "kernel"))[:80]
        if is_device_region(function):
            return Kernel(KernelInfo(f"{stem}_{digest}", symbols, symbols, on_device=True), function, text, self.host)
        expect_loops(function)
        tells = tells_of_body(function)
        updated = updated_input(function)
        in_place = () if tells or GAP in function.attrs else in_place_inputs(function)
        in_place = in_place if updated is None else (updated,)
        of_scalars = not tells and is_of_scalars(function)
        target, refusals = (self.host, ()) if of_scalars else self._placed(function)
        info = KernelInfo(f"{stem}_{digest}", symbols, symbols, in_place, of_scalars)
        return Kernel(info, function, text, target, self._recorded(function, text), refusals)

    def _placed(self, function: Function) -> tuple[KernelTarget, tuple[str, ...]]:
        """What makes a kernel: the target of the region that it is in; else, of those that the host can call, the first
        that takes it, and what those before it have against it."""
        refusals: list[str] = []
        for target in self.targets:
            if function.attrs.get(TARGET, target.device_kind) != target.device_kind:
                continue
            called = TARGET in function.attrs or target.device_kind == self.host.device_kind
            match checked_answer(target.supports(function), f"the target `{target.device_kind}`"):
                case Supported() if called:
                    return target, tuple(refusals)
                case Supported():
                    why = (
                        "it tells of no failures"
                        if tells_of_body(function)
                        else "its extents are only known at run time"
                    )
                    refusals.append(f"{target.device_kind}: {why}")
                case Refused(reason):
                    refusals.append(f"{target.device_kind}: {reason}")
        raise CompilerBug("place kernels", "no target takes a group: " + "; ".join(refusals))

    def _recorded(self, function: Function, text: str) -> ScheduleRecord | None:
        """The schedule on record for a kernel; where its result is a part of something larger, else the one for the
        kernel whose result is alone."""
        found = self.records.schedule(text)
        if found is None and GAP in function.attrs:
            return self.records.schedule(astext(function.without_attr(GAP), show_meta_data=True))
        return found

    def by_name(self, name: str) -> Kernel:
        return next(kernel for kernel in self.kernels if kernel.info.name == name)

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        return tuple(self.by_text.values())


def _refused(kernel: str, record: ScheduleRecord, error: RelayError | CompilerBug) -> RelayError:
    known = isinstance(error, RelayError)
    return RelayError(
        rule="schedule-record",
        message=f"the schedule on record for {kernel} does not fit: {error.message if known else error}",
        expected=error.expected if known else "",
        found=error.found if known else "",
        origins=(Origin("the record", record.origin),) if record.origin else (),
        remedy=f"{error.remedy if known and error.remedy else 'mend the record'}; or remove the record, to have the "
        "compiler choose",
    )


def operators_in(function: Function) -> list[OperatorRecord]:
    """The operators that a primitive function calls, in order."""
    called = [each.operator for each in post_order(function.body) if isinstance(each, Op)]
    return [each for each in called if isinstance(each, OperatorRecord)]


def is_of_scalars(function: Function) -> bool:
    """Whether a primitive function is a formula of scalars."""
    return all(
        isinstance(each.checked_type, TensorType) and not each.checked_type.shape
        for each in (*function.params, *post_order(function.body))
        if not isinstance(each, Op)
    )


def kernel_symbols(function: Function) -> tuple[Symbol, ...]:
    """The dimension symbols of a kernel, in order of first appearance: those of its parameters' types, then those that
    stand in its result or in attributes only."""
    if is_opaque(function):
        return signature_symbols(function)
    types = [parameter.checked_type for parameter in function.params]
    found = dict.fromkeys(symbol for type_ in types if type_ is not None for symbol in type_symbols(type_))
    if not tells_of_body(function):
        found.update(dict.fromkeys(open_symbols(function)))
    for node in post_order(function.body):
        if isinstance(node, Call) and node.attrs is not None:
            found.update(dict.fromkeys(attribute_symbols(node.attrs)))
    return tuple(found)
