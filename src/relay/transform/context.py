"""What a run of the optimizer is told: the level, which passes are forced or barred, and the values passes need."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from typing import TypeAlias

from relay.base.diagnostics import RelayError
from relay.ir.module import IRModule

Observer: TypeAlias = Callable[[str, IRModule, IRModule, float], None]
"""Called after each pass with its name, the module before and after, and the seconds it took."""


@dataclass(frozen=True, slots=True)
class LayoutPreferences:
    """The layouts in which a target's kernels work best. Empty strings leave a layout as it is.

    `conv2d_kernel_blocks`, `dense_blocks`: how many output channels may be packed together, innermost, in weights that
    are constant; of these the one that leaves the fewest channels empty is taken, the first of equals. None: no
    packing.
    """

    conv2d_data: str = ""
    conv2d_kernel_blocks: tuple[int, ...] = ()
    dense_blocks: tuple[int, ...] = ()


def fitting_block(blocks: tuple[int, ...], extent: int) -> int:
    """Of `blocks`, the one in whose multiples `extent` leaves the least empty; the first of equals.

    >>> fitting_block((64, 48, 32, 16), 144), fitting_block((64, 48, 32, 16), 24), fitting_block((64, 48), 1)
    (48, 32, 48)
    """
    return min(blocks, key=lambda block: -(-extent // block) * block)


@dataclass(frozen=True, slots=True)
class FusionLimits:
    """How large one group may grow: in operators, and in distinct inputs."""

    max_operators: int = 64
    max_inputs: int = 24


@dataclass(slots=True)
class PassContext:
    """Options of the optimizer, for the extent of a `with` block.

    A pass runs when `opt_level` reaches its level, or it is required, and it is not disabled.

    >>> with PassContext(opt_level=3, disabled_pass=("FuseOps",)) as context:
    ...     PassContext.current() is context
    True
    """

    opt_level: int = 2
    required_pass: tuple[str, ...] = ()
    disabled_pass: tuple[str, ...] = ()
    layouts: LayoutPreferences = field(default_factory=LayoutPreferences)
    fusion: FusionLimits = field(default_factory=FusionLimits)
    observers: tuple[Observer, ...] = ()
    _tokens: list[Token[PassContext | None]] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        if not 0 <= self.opt_level <= 4:
            raise RelayError(
                rule="opt-level",
                message="there is no such optimization level",
                expected="0, 1, 2, 3 or 4",
                found=str(self.opt_level),
            )

    @staticmethod
    def current() -> PassContext:
        """The innermost context that is entered, or one of defaults."""
        return _CURRENT.get() or PassContext()

    def __enter__(self) -> PassContext:
        self._tokens.append(_CURRENT.set(self))
        return self

    def __exit__(self, *exception: object) -> None:
        _CURRENT.reset(self._tokens.pop())

    def runs(self, name: str, level: int) -> bool:
        """Whether a pass of this name and level runs here."""
        return name not in self.disabled_pass and (self.opt_level >= level or name in self.required_pass)


_CURRENT: ContextVar[PassContext | None] = ContextVar("relay_pass_context", default=None)
