"""What a run of the optimizer is told: the level, which passes are forced or barred, and the values passes need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar, Token
from dataclasses import field, replace
from types import MappingProxyType
from typing import Protocol, TypeAlias, Union

from relay.base.arguments import MAPPING, WHOLE_NUMBER, Kind, expect
from relay.base.diagnostics import RelayError
from relay.base.floating_point import FloatingPointClass, level_that_allows
from relay.base.frozen import frozen, mutable
from relay.base.names.near_names import near_names
from relay.te.schedule.records import ScheduleRecords
from relay.transform.framework.external import ExternalCompiler
from relay.transform.framework.instruments.instrument import Instrument


@frozen
class ConvolutionWeights:
    """How many channels a convolution makes, in how many groups (a channel by itself: `is_depthwise`), from how many
    taps of a window each."""

    outputs: int
    groups: int
    is_depthwise: bool
    taps: int


KeepsChannelsFirst: TypeAlias = Callable[[ConvolutionWeights], bool]
"""Whether a convolution is as fast with channels in front of space as in the preferred layout."""


@frozen
class ConvolutionExtents:
    """What a convolution of one image makes, and the channels that it sums over."""

    rows: int
    columns: int
    channels: int
    depth: int


WinogradTile: TypeAlias = Callable[[ConvolutionExtents], int]
"""How many results along each axis of a tile make a convolution of 3×3, at stride 1 in float32, the fastest: 2 or 4; 0
where plain sums do."""


@frozen
class LayoutPreferences:
    """The layouts in which a target's kernels work best. Empty strings leave a layout as it is.

    `conv2d_kernel_blocks`, `dense_blocks`: how many output channels may be packed together, innermost, in weights that
    are constant; of these the one that leaves the fewest channels empty is taken, the first of equals. None: no
    packing.

    `keeps_channels_first`: which convolutions need not change for themselves; None: none. `winograd_tile`: which are
    computed by minimal filtering, in the preferred layout; None: none.
    """

    conv2d_data: str = ""
    conv2d_kernel_blocks: tuple[int, ...] = ()
    dense_blocks: tuple[int, ...] = ()
    keeps_channels_first: KeepsChannelsFirst | None = None
    winograd_tile: WinogradTile | None = None


@frozen
class Rates:
    """What a target does in a nanosecond on one thread, for passes that choose between two forms of a program.

    `tiled_products`: multiply-adds of matrix products with many rows. `streamed_products`: those of products with one
    row, each of which loads its own element of the matrix, from the second-level cache; `far_products`: of matrices
    that are larger together than `near_bytes`, from further away. `copied_bytes`: what is read, rearranged and written.

    In nanoseconds, `sum_nanoseconds`: adding up the lanes of a vector; `call_nanoseconds`: calling a kernel that others
    have run before, and making room for its result; `repeated_call_nanoseconds`: the same of the few kernels of a loop.
    """

    tiled_products: float
    streamed_products: float
    far_products: float
    near_bytes: int
    copied_bytes: float
    far_copied_bytes: float
    cached_bytes: int
    sum_nanoseconds: float
    call_nanoseconds: float
    repeated_call_nanoseconds: float


def fitting_block(blocks: tuple[int, ...], extent: int) -> int:
    """Of `blocks`, the one in whose multiples `extent` leaves the least empty; the first of equals.

    >>> fitting_block((64, 48, 32, 16), 144), fitting_block((64, 48, 32, 16), 24), fitting_block((64, 48), 1)
    (48, 32, 48)
    """
    return min(blocks, key=lambda block: -(-extent // block) * block)


@frozen
class FusionLimits:
    """How large one group may grow: in operators, in distinct inputs, and in outputs."""

    max_operators: int = 64
    max_inputs: int = 24
    max_outputs: int = 8


class Named(Protocol):
    """A pass, as far as its name goes."""

    @property
    def name(self) -> str: ...


PassName: TypeAlias = Union[str, Named]
"""A pass that comes with relay by its name; a pass of one's own as itself."""


@frozen
class ConfigKey:
    """A key of `PassContext.config`: the type of its value, and what it says."""

    type: type
    meaning: str


CONFIG_KEYS: Mapping[str, ConfigKey] = MappingProxyType(
    {
        "relay.FuseOps.max_depth": ConfigKey(int, "how many operators one group may hold"),
        "relay.SpecializeFunctions.max_nodes": ConfigKey(int, "how many nodes the copies of functions may hold"),
        "relay.repro_folder": ConfigKey(
            str, "where the repro of a failing pass or kernel is written (default: temporary files)"
        ),
    }
)


@mutable(eq=True)
class PassContext:
    """Options of the optimizer, for the extent of a `with` block.

    A pass runs when `opt_level` reaches its level, or it is required, and it is not disabled, and no instrument is
    against it. Passes that come with relay are required or disabled by name, passes of one's own by themselves.
    `rates` are of the machine that is compiled for; None: of no machine, and what depends on them is done always.
    `external_compilers` say what they take (`AnnotateTarget`), and make its native code. `schedules` are those on
    record for kernels, which stand in for the compiler's own choice (docs/schedule_records.md).

    Raises `RelayError`: `opt-level`, `unknown-pass`, `unknown-config`.

    >>> with PassContext(opt_level=3, disabled_pass=("FuseOps",)) as context:
    ...     PassContext.current() is context
    True
    """

    opt_level: int = 2
    required_pass: tuple[PassName, ...] = ()
    disabled_pass: tuple[PassName, ...] = ()
    instruments: tuple[Instrument, ...] = ()
    config: Mapping[str, object] = field(default_factory=dict)
    layouts: LayoutPreferences = field(default_factory=LayoutPreferences)
    rates: Rates | None = None
    fusion: FusionLimits = field(default_factory=FusionLimits)
    external_compilers: Mapping[str, ExternalCompiler] = field(default_factory=dict)
    schedules: ScheduleRecords = field(default_factory=ScheduleRecords)
    _tokens: list[Token[PassContext | None]] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        expect(self.opt_level, WHOLE_NUMBER, "`opt_level` of a PassContext")
        for name in ("required_pass", "disabled_pass", "instruments"):
            expect(getattr(self, name), _LIST, f"`{name}` of a PassContext")
        expect(self.config, MAPPING, "`config` of a PassContext")
        if not 0 <= self.opt_level <= 4:
            raise RelayError(
                rule="opt-level",
                message="there is no such optimization level",
                expected="0, 1, 2, 3 or 4",
                found=str(self.opt_level),
            )
        self.required_pass, self.disabled_pass = tuple(self.required_pass), tuple(self.disabled_pass)
        self.instruments = tuple(self.instruments)
        _check_names("required_pass", self.required_pass)
        _check_names("disabled_pass", self.disabled_pass)
        _check_config(self.config)
        operators = self.config.get("relay.FuseOps.max_depth")
        if isinstance(operators, int):
            self.fusion = replace(self.fusion, max_operators=operators)

    @staticmethod
    def current() -> PassContext:
        """The innermost context that is entered, or one of defaults."""
        return _CURRENT.get() or PassContext()

    def __enter__(self) -> PassContext:
        for each in self._new_instruments():
            each.enter_pass_ctx()
        self._tokens.append(_CURRENT.set(self))
        return self

    def __exit__(self, *exception: object) -> None:
        _CURRENT.reset(self._tokens.pop())
        for each in self._new_instruments():
            each.exit_pass_ctx()

    def _new_instruments(self) -> tuple[Instrument, ...]:
        """The instruments that the context around this one has not entered already."""
        outer = _CURRENT.get()
        entered = outer.instruments if outer is not None else ()
        return tuple(each for each in self.instruments if each not in entered)

    def runs(self, name: str, level: int) -> bool:
        """Whether a pass of this name and level runs here."""
        return not _names(self.disabled_pass, name) and (self.opt_level >= level or _names(self.required_pass, name))

    def allows(self, floating_point: FloatingPointClass) -> bool:
        """Whether the optimization level allows rewrites of a floating-point class.

        >>> PassContext(opt_level=2).allows(FloatingPointClass.ROUNDING)
        True
        >>> PassContext(opt_level=3).allows(FloatingPointClass.FAST_MATH)
        False
        """
        return self.opt_level >= level_that_allows(floating_point)


_LIST = Kind(
    (list, tuple, set, frozenset), "a list", lambda value: f"write [{value!r}]" if isinstance(value, str) else ""
)


def _names(passes: tuple[PassName, ...], name: str) -> bool:
    return any((each if isinstance(each, str) else each.name) == name for each in passes)


def _check_names(where: str, passes: tuple[PassName, ...]) -> None:
    named = [each for each in passes if isinstance(each, str)]
    if not named:
        return  # as a rule; to know what names there are is to load all passes
    from relay.transform import PASSES  # a list of what needs this file, and is there when this runs

    for each in named:
        if each not in PASSES:
            raise RelayError(
                rule="unknown-pass",
                message=f"`{where}` names a pass that is not there",
                expected="the name of a pass of relay.transform",
                found=each,
                remedy=f"{near_names(each, PASSES)} A pass of your own is given as itself, not by name.".strip(),
            )


def _check_config(config: Mapping[str, object]) -> None:
    for key, value in config.items():
        declared = CONFIG_KEYS.get(key)
        if declared is None:
            raise RelayError(
                rule="unknown-config",
                message="`config` has a key that is not there",
                expected="one of " + ", ".join(CONFIG_KEYS),
                found=key,
                remedy=near_names(key, CONFIG_KEYS),
            )
        if type(value) is not declared.type:
            raise RelayError(
                rule="unknown-config",
                message=f"the value of `{key}` ({declared.meaning}) is of another type",
                expected=declared.type.__name__,
                found=repr(value),
            )


_CURRENT: ContextVar[PassContext | None] = ContextVar("relay_pass_context", default=None)
