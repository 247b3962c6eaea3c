"""What named x86-64 processors can do, as far as schedules ask: the levels of the psABI supplement.

LLVM knows more of each, and uses it; but schedules choose the width of tiles before LLVM is asked, by features.
Source: System V Application Binary Interface, AMD64 supplement, section 3.1.1, "x86-64-v2" to "x86-64-v4".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_V2 = ("+cx16", "+popcnt", "+sahf", "+sse3", "+sse4.1", "+sse4.2", "+ssse3")
_V3 = (*_V2, "+avx", "+avx2", "+bmi", "+bmi2", "+f16c", "+fma", "+lzcnt", "+movbe")
_V4 = (*_V3, "+avx512bw", "+avx512cd", "+avx512dq", "+avx512f", "+avx512vl")

_LEVEL_OF: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("x86-64-v2", "nehalem", "westmere", "silvermont", "goldmont"), _V2),
    **dict.fromkeys(
        ("x86-64-v3", "haswell", "broadwell", "skylake", "alderlake", "gracemont", "znver1", "znver2", "znver3"), _V3
    ),
    **dict.fromkeys(
        (
            "x86-64-v4", "skylake-avx512", "cascadelake", "cooperlake", "icelake-client", "icelake-server", "tigerlake",
            "sapphirerapids", "emeraldrapids", "graniterapids", "znver4", "znver5",
        ),
        _V4,
    ),
}  # fmt: skip


BASELINE: Mapping[str, tuple[str, ...]] = MappingProxyType({"riscv64": ("+a", "+c", "+d", "+f", "+m")})
"""What Linux asks of every processor of a kind, so that code can be linked with its libraries: RV64GC, whose functions
take floats in registers. Source: RISC-V ELF psABI specification, "Default ABIs and C type sizes"."""


def features_of(cpu: str) -> tuple[str, ...]:
    """The features that a processor has for certain; none for a name that is not in the table.

    >>> "+avx2" in features_of("haswell"), features_of("x86-64")
    (True, ())
    """
    return _LEVEL_OF.get(cpu, ())
