"""A processor that code is made for, as a frozen value that prints and parses back.

What the running machine can do is asked in `host.py`; here are the facts that are stated, and what follows from them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.base.names.near_names import near_names
from relay.base.target import Target
from relay.runtime.artefact.machine import RequiredMachine

FP_CONTRACT_MODES = ("fast", "off")
HEAP_MODES = ("reused", "checked")

L1_BYTES_DEFAULT = 32 * 1024
L2_BYTES_DEFAULT = 1024 * 1024
L3_BYTES_DEFAULT = 8 * 1024 * 1024


@frozen
class CpuTarget(Target):
    """What a kernel may use.

    `triple` and `cpu` are LLVM's names ("" is the host's triple, and the triple's baseline CPU); `cpu="native"` asks
    for the host's features. `features` are LLVM flags such as `+avx2`. `num_threads` is the largest number of threads a
    kernel may use (0: as many as the process may run on). `vector_bits` is the width of one vector register (0: as the
    features say). `l1_bytes`, `l2_bytes` (per core) and `l3_bytes` (shared) size tiles (0: unknown, a usual size is
    taken). `fp_contract` says whether `a*b + c` may round once ("fast") or must round twice ("off"). `heap="checked"`
    poisons freed memory and reports who uses it, to find errors of the compiler; "reused" is for all else.

    >>> print(CpuTarget.of(["-mattr=+fma,+avx2", "-num-threads=2"]))
    llvm -mattr=+avx2,+fma -num-threads=2
    """

    kind: ClassVar[str] = "llvm"
    triple: str = ""
    cpu: str = ""
    features: tuple[str, ...] = ()
    num_threads: int = 0
    vector_bits: int = 0
    l1_bytes: int = 0
    l2_bytes: int = 0
    l3_bytes: int = 0
    fp_contract: str = "fast"
    heap: str = "reused"

    @staticmethod
    def of(flags: Sequence[str]) -> CpuTarget:
        """The target of these flags. Raises `RelayError`: `unknown-target-flag`, `bad-target-value`.

        >>> CpuTarget.of(["-mcpu=native"]).cpu
        'native'
        """
        values: dict[str, Any] = {}
        for word in flags:
            flag, equals, value = word.partition("=")
            if flag not in _FLAGS or not equals:
                raise RelayError(
                    rule="unknown-target-flag",
                    message=f"a target of kind `llvm` has no flag `{word}`",
                    expected=", ".join(f"{name}=…" for name in _FLAGS),
                    found=word,
                    remedy=f"write {flag}=…" if flag in _FLAGS else near_names(flag, _FLAGS),
                )
            field, read = _FLAGS[flag]
            values[field] = read(flag, value)
        return CpuTarget(**values)

    def __str__(self) -> str:
        words = [self.kind]
        for flag, (field, _) in _FLAGS.items():
            value = getattr(self, field)
            if value != getattr(_DEFAULT, field):
                words.append(f"{flag}={','.join(value) if isinstance(value, tuple) else value}")
        return " ".join(words)

    def has(self, feature: str) -> bool:
        """Whether a feature (`avx2`, without sign) is stated to be there. The last word on it counts.

        >>> CpuTarget.of(["-mattr=+avx2"]).has("avx2")
        True
        """
        return f"+{feature}" in self.features

    @property
    def is_resolved(self) -> bool:
        """Whether everything is stated, so that nothing is left to the machine that compiles."""
        return bool(self.triple) and self.cpu != "native" and self.vector_bits > 0

    @property
    def register_bits(self) -> int:
        """Width of one vector register in bits, by the stated width or the features.

        >>> CpuTarget.of(["-mattr=+avx2"]).register_bits
        256
        """
        if self.vector_bits:
            return self.vector_bits
        if self.has("avx512f"):
            return 512
        return 256 if self.has("avx") or self.has("avx2") else 128

    @property
    def register_count(self) -> int:
        """How many vector registers there are."""
        return 32 if self.has("avx512f") or self.triple.startswith(("aarch64", "arm64")) else 16

    def lanes(self, dtype: DType) -> int:
        """How many elements of `dtype`, as wide as it is computed in, one vector register holds.

        >>> CpuTarget.of(["-mattr=+avx2"]).lanes(DType.FLOAT32)
        8
        """
        return max(1, self.register_bits // max(8, dtype.bits))

    @property
    def cache_bytes(self) -> tuple[int, int, int]:
        """Sizes of the L1 data, L2 and L3 caches, with usual sizes for those unknown."""
        return (
            self.l1_bytes or L1_BYTES_DEFAULT,
            self.l2_bytes or L2_BYTES_DEFAULT,
            self.l3_bytes or L3_BYTES_DEFAULT,
        )

    @property
    def words(self) -> tuple[str, str, str]:
        """`(triple, cpu, features)` as LLVM takes them."""
        return self.triple, self.cpu, ",".join(self.features)

    @property
    def object_format(self) -> str:
        """What the code of its kernels is, as modules name it."""
        return f"elf-{self.triple.partition('-')[0]}"

    @property
    def machine(self) -> RequiredMachine:
        """What a machine must have to run code for this target, which is resolved."""
        features = tuple(feature[1:] for feature in self.features if feature.startswith("+"))
        return RequiredMachine.from_triple(self.triple, features)

    def with_threads(self, num_threads: int) -> CpuTarget:
        """The same machine with another limit on threads."""
        return replace(self, num_threads=num_threads)


def _text(_: str, value: str) -> str:
    return value


def _count(flag: str, value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) < 12):
        raise _bad_value(flag, "a whole number, 0 or more", value)
    return int(value)


def _vector_width(flag: str, value: str) -> int:
    bits = _count(flag, value)
    if bits not in (0, 64, 128, 256, 512, 1024, 2048):
        raise _bad_value(flag, "a register width in bits: 64, 128, 256, 512, 1024 or 2048", value)
    return bits


def _features(flag: str, value: str) -> tuple[str, ...]:
    """Sorted by name; the last word on a feature counts."""
    stated: dict[str, str] = {}
    for item in filter(None, value.split(",")):
        if item[0] not in "+-" or len(item) < 2:
            raise _bad_value(flag, "features with a sign, such as +avx2,-fma", item)
        stated[item[1:]] = item
    return tuple(stated[name] for name in sorted(stated))


def _one_of(*modes: str) -> Callable[[str, str], str]:
    def read(flag: str, value: str) -> str:
        if value not in modes:
            raise _bad_value(flag, " or ".join(modes), value)
        return value

    return read


def _bad_value(flag: str, expected: str, found: str) -> RelayError:
    return RelayError(
        rule="bad-target-value",
        message=f"the target flag `{flag}` cannot have this value",
        expected=expected,
        found=found or "nothing",
    )


_FLAGS: dict[str, tuple[str, Callable[[str, str], str | int | tuple[str, ...]]]] = {
    "-mtriple": ("triple", _text),
    "-mcpu": ("cpu", _text),
    "-mattr": ("features", _features),
    "-num-threads": ("num_threads", _count),
    "-vector-width": ("vector_bits", _vector_width),
    "-l1-bytes": ("l1_bytes", _count),
    "-l2-bytes": ("l2_bytes", _count),
    "-l3-bytes": ("l3_bytes", _count),
    "-fp-contract": ("fp_contract", _one_of(*FP_CONTRACT_MODES)),
    "-heap": ("heap", _one_of(*HEAP_MODES)),
}
_DEFAULT = CpuTarget()
