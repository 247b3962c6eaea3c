"""A schedule as a value: tensors, and the steps that say how they are computed, one method after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy

from relay.base.names.near_names import near_names
from relay.te.lowering.lower import lower_state
from relay.te.notation.agreement import check_agreement
from relay.te.notation.picture import picture
from relay.te.operation import inputs_of
from relay.te.schedule.step import Step, apply
from relay.te.schedule.text import STEP_TYPES, made_step, print_steps, step_name
from relay.te.state import State
from relay.te.tensor import Tensor
from relay.te.tensorize import AnyIntrinsic
from relay.tir.hierarchy import PLAIN, Hierarchy
from relay.tir.interpretation.arguments import Array
from relay.tir.stmt import PrimFunc
from relay.tir.text.printer import print_primfunc

STEPS = {step_name(kind): kind for kind in STEP_TYPES}


class Schedule:
    """What to compute, and how: `outputs`, and `steps` in order. A schedule never changes: each step is a method, of
    the name and with the arguments that it has in text (`docs/schedules.md`), which gives the schedule with that step
    behind the others, or raises `RelayError` (`schedule-…`) if it would change what is computed.

    `intrinsics` are those that `tensorize` steps name, `hierarchy` says which threads and scopes there are.

    >>> from relay import te
    >>> a = te.placeholder((64,), "float32", "a")
    >>> schedule = Schedule(te.compute((64,), lambda i: a[i] + 1.0, name="b")).split("b", "i", factor=16)
    >>> print(schedule.vectorize("b", "i.inner").show())
    serial i.outer in 4
    └─ vectorized i.inner in 16
       └─ b = … a
    """

    __slots__ = ("intrinsics", "outputs", "state", "steps")

    def __init__(
        self,
        outputs: Tensor | Sequence[Tensor],
        steps: Iterable[Step] = (),
        intrinsics: Sequence[AnyIntrinsic] = (),
        hierarchy: Hierarchy = PLAIN,
    ) -> None:
        self.outputs: tuple[Tensor, ...] = (outputs,) if isinstance(outputs, Tensor) else tuple(outputs)
        self.steps: tuple[Step, ...] = tuple(steps)
        self.intrinsics: tuple[AnyIntrinsic, ...] = tuple(intrinsics)
        self.state: State = apply(self.outputs, self.steps, hierarchy)

    def then(self, *steps: Step) -> Schedule:
        """This schedule with `steps` behind its own. Raises `RelayError` (`schedule-…`)."""
        made = copy(self)
        for step in steps:
            made.state = step.apply(made.state)
        made.steps = (*self.steps, *steps)
        return made

    def __getattr__(self, name: str) -> Callable[..., Schedule]:
        kind = STEPS.get(name)
        if kind is None:
            raise AttributeError(f"a schedule has no step `{name}`. {near_names(name, STEPS)}".rstrip())
        return lambda *positional, **named: self.then(made_step(kind, positional, named))

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *STEPS})

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The placeholders that are read, in the order in which the expressions speak of them."""
        return inputs_of(self.outputs)

    def lower(self, inputs: Sequence[Tensor] | None = None, name: str = "kernel") -> PrimFunc:
        """The loops, as a function of `inputs` (all placeholders, unless they are given) that fills the outputs.

        Raises `RelayError` as `te.lower` does."""
        return lower_state(self.state, self.inputs if inputs is None else inputs, name, self.intrinsics)

    def loops(self) -> str:
        """The loops as text, which `tir.parser.parse_primfunc` reads back."""
        return print_primfunc(self.lower())

    def show(self) -> str:
        """The loop nest as a picture of text: a line a loop, with its extent, and one for what is filled there."""
        return picture(self.lower().body)

    def assert_equal(self, **inputs: Array) -> None:
        """Check that the schedule computes what its tensors say. The verifier proves, for all extents, that every index
        is inside and that no iterations of parallel loops meet; the interpreter runs the loops with the schedule and
        without, on random numbers or the arrays `inputs` by name, and for several extents where these are symbols.

        Raises `RelayError`: `schedule-differs`, `schedule-too-large` (what is scheduled should be small), and the rule
        of what the verifier finds (`index-out-of-range`, …).
        """
        plain = Schedule(self.outputs, (), self.intrinsics, self.state.hierarchy)
        check_agreement(plain.lower(), self.lower(), inputs)

    def __str__(self) -> str:
        return print_steps(self.steps)

    def __repr__(self) -> str:
        return f"<schedule of {', '.join(map(repr, self.outputs))}: {len(self.steps)} steps>"
