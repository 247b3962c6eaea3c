"""From a caller's arrays to the pointers of a native call: names, dtypes, ranks, extents and memory are checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from relay.arith.expr import Symbol, evaluate, free_symbols
from relay.base.diagnostics import Origin, RelayError
from relay.base.names.near_names import near_names
from relay.runtime.arguments.dlpack import from_dlpack
from relay.runtime.arguments.extents import Source
from relay.runtime.artefact.manifest import EntrySpec, TensorSpec, ValueSpec


def bind_arguments(entry: EntrySpec, positional: Sequence[Any], named: Mapping[str, Any]) -> tuple[Any, ...]:
    """One array an input, in the entry's order; values that are no tensors as they were given. A tuple of tensors is
    its fields, one after another: those of `w` are the inputs `w.0`, `w.1`, ….

    Raises `RelayError` when arguments and inputs do not pair up.
    """
    if named or len(positional) != len(entry.inputs):
        by_name = [each for name, value in named.items() for each in _by_name(entry, name, value)]
        positional = _pair(entry, _by_position(entry, positional), by_name)
    return tuple(
        as_array(value, spec) if isinstance(spec, TensorSpec) else value
        for value, spec in zip(positional, entry.inputs, strict=True)
    )


def _by_position(entry: EntrySpec, given: Sequence[Any]) -> list[Any]:
    """What is given for each of the first inputs."""
    found: list[Any] = []
    for value in given:
        following = entry.inputs[len(found) :]
        if not isinstance(value, tuple) or (value and following and isinstance(following[0], ValueSpec)):
            found.append(value)
            continue
        leaves = _leaves(cast("tuple[Any, ...]", value))
        for place, spec in enumerate(following[: len(leaves)]):
            if not spec.name.endswith(f".{place}"):
                raise RelayError(
                    rule="input-kind", message=f"`{entry.name}` was given a tuple of other parts than it takes",
                    expected=_all_inputs(entry), found=f"part {place} of a tuple for `{spec.name}`",
                )  # fmt: skip
        found += leaves
    return found


def _by_name(entry: EntrySpec, name: str, value: Any) -> list[tuple[str, Any]]:
    """What is given for the input of a name, or for each of those that are the parts of a tuple."""
    if not isinstance(value, tuple) or any(each.name == name for each in entry.inputs):
        return [(name, value)]
    return [(f"{name}.{place}", leaf) for place, leaf in enumerate(_leaves(cast("tuple[Any, ...]", value)))]


def _leaves(argument: Any) -> list[Any]:
    return [leaf for part in argument for leaf in _leaves(part)] if isinstance(argument, tuple) else [argument]


def _pair(entry: EntrySpec, positional: Sequence[Any], named: Sequence[tuple[str, Any]]) -> list[Any]:
    names = [spec.name for spec in entry.inputs]
    if len(positional) > len(names):
        raise RelayError(
            rule="too-many-inputs",
            message=f"`{entry.name}` was given too many inputs",
            expected=_all_inputs(entry),
            found=_inputs(len(positional)),
        )
    values = dict(zip(names, positional, strict=False))
    for name, value in named:
        if name not in names or name in values:
            reason = f"is no input of `{entry.name}`" if name not in names else f"was given to `{entry.name}` twice"
            raise RelayError(
                rule="bad-input-name",
                message=f"`{name}` {reason}",
                expected=_all_inputs(entry),
                remedy=near_names(name, [each for each in names if each != name]),
            )
        values[name] = value
    missing = [name for name in names if name not in values]
    if missing:
        raise RelayError(
            rule="missing-input",
            message=f"`{entry.name}` was not given " + ", ".join(f"`{name}`" for name in missing),
            expected=_all_inputs(entry),
            found=_inputs(len(values)),
        )
    return [values[name] for name in names]


def _all_inputs(entry: EntrySpec) -> str:
    return f"{_inputs(len(entry.inputs))}: " + ", ".join(map(str, entry.inputs))


def as_array(value: Any, spec: TensorSpec) -> NDArray[np.generic]:
    """`value` as a contiguous, aligned array of `spec`'s dtype and rank, never copied.

    NumPy arrays, Python and NumPy scalars for scalars, and anything that speaks DLPack are taken.
    """
    array = value if isinstance(value, np.ndarray) else _import(value, spec)
    if array.dtype != spec.dtype.numpy:
        raise _mismatch(spec, "dtype", str(spec.dtype), str(array.dtype), f"convert it: x.astype({str(spec.dtype)!r})")
    if array.ndim != len(spec.shape):
        expected = _axes(len(spec.shape)) + f", shape ({_shape(spec)})"
        raise _mismatch(spec, "rank", expected, f"{_axes(array.ndim)}, shape {array.shape}", "")
    flags = array.flags
    if not (flags.c_contiguous and flags.aligned):
        state = f"strides {array.strides}" if flags.aligned else "an address that is no multiple of the item size"
        raise _mismatch(
            spec, "memory", "a contiguous, aligned array", state, "copy it once: np.ascontiguousarray(x) or x.copy()"
        )
    return array


def _import(value: Any, spec: TensorSpec) -> NDArray[np.generic]:
    if isinstance(value, np.generic):
        return np.asarray(value)
    if isinstance(value, (bool, int, float)):
        return _scalar(value, spec)
    if hasattr(value, "__dlpack__"):
        try:
            return from_dlpack(value)
        except BufferError as error:
            raise _mismatch(spec, "memory", "a CPU tensor that DLPack can share", str(error), "") from error
    if isinstance(value, (list, tuple)):
        raise _mismatch(spec, "kind", "an array", f"a {type(value).__name__}", "wrap it: np.array(x, dtype=...)")
    raise _mismatch(spec, "kind", "a NumPy array or a DLPack tensor", f"a {type(value).__name__}", "")


def _scalar(value: float, spec: TensorSpec) -> NDArray[np.generic]:
    """A Python number as an array without axes. Floats are rounded; integers and booleans must be exact."""
    try:
        array = np.asarray(value, dtype=spec.dtype.numpy)
    except (OverflowError, ValueError):
        raise _not_held(value, spec) from None
    if not spec.dtype.is_float and (array != value or (spec.dtype.is_bool and not isinstance(value, bool))):
        raise _not_held(value, spec)
    return array


def _not_held(value: float, spec: TensorSpec) -> RelayError:
    return _mismatch(spec, "value", f"a number that {spec.dtype} holds", repr(value), "")


def solve_symbols(entry: EntrySpec, sources: Mapping[Symbol, Source], arrays: Sequence[Any]) -> dict[Symbol, int]:
    """The dimension symbols as these arrays have them; every extent is checked. `sources` are those of the entry."""
    values: dict[Symbol, int] = {}
    for symbol, source in sources.items():
        value = source.value(arrays[source.position].shape[source.axis])
        if value is None:
            spec = cast("TensorSpec", entry.inputs[source.position])
            raise _mismatch(spec, "shape", f"({_shape(spec)})", str(arrays[source.position].shape), "")
        values[symbol] = value
    for spec, array in zip(entry.inputs, arrays, strict=True):
        if not isinstance(spec, TensorSpec) or spec.shape == array.shape:
            continue
        expected = tuple(evaluate(extent, values) for extent in spec.shape)
        if expected != array.shape:
            free = [symbol for symbol in values if any(symbol in free_symbols(extent) for extent in spec.shape)]
            origins = tuple(
                Origin(symbol.name, str(values[symbol]), f"`{entry.inputs[sources[symbol].position].name}`")
                for symbol in free
            )
            raise _mismatch(spec, "shape", f"({_shape(spec)})", str(array.shape), "", origins)
    return values


def _shape(spec: TensorSpec) -> str:
    return ", ".join(map(str, spec.shape)) + ("," if len(spec.shape) == 1 else "")


def _inputs(count: int) -> str:
    return "1 input" if count == 1 else f"{count} inputs"


def _axes(count: int) -> str:
    return "1 axis" if count == 1 else f"{count} axes"


def _mismatch(
    spec: TensorSpec, what: str, expected: str, found: str, remedy: str, origins: tuple[Origin, ...] = ()
) -> RelayError:
    return RelayError(
        rule=f"input-{what}",
        message=f"input `{spec.name}` has the wrong {what}",
        expected=expected,
        found=found,
        remedy=remedy,
        origins=origins,
    )
