"""What one core of a machine is to schedules and to the models that choose between algorithms, every number of it.

What features and caches tell is derived from the target (`core_of`). The rest was measured, on Sapphire Rapids and
Cascade Lake where nothing else is said, and is the same for all cores until somebody measures another. Times are in
nanoseconds and rates in units a nanosecond, on one thread.
"""

from __future__ import annotations

from functools import cache

from relay.base.frozen import frozen
from relay.targets.cpu.target import CpuTarget

_FLOAT32_BITS = 32
_MANY_REGISTERS = 32

SHORTEST_PARALLEL_NANOSECONDS = 4000
"""Sharing a loop out costs one or two microseconds, and much more where a thread is late: what one thread does in less
than this it does alone."""


@frozen
class Core:
    """A core: registers and caches of its target, and what was measured."""

    vector_lanes: int
    """float32 elements of a vector register."""
    register_count: int
    """Vector registers."""
    l1_bytes: int
    l2_bytes: int
    l3_bytes: int
    multiplies_by_lane: bool
    """Whether one factor of a multiply-add may be a lane of a vector (AArch64): LLVM then loads those of four steps at
    once, and keeps a vector of them for each row of a register tile."""
    convolution_vectors: tuple[int, ...]
    product_vectors: tuple[int, ...]
    """Vectors in the width of a register tile, by preference. Wide tiles load less for each product; narrow ones take
    more rows, and leave fewer lanes empty where there are few columns."""

    # ---- registers
    most_tile_rows: int = 14
    """Rows of a register tile: more make loops no faster, and their code long."""
    unrolled_sums: tuple[int, ...] = (4, 3, 2)
    """Steps of a sum that are written out, by preference: the loop's own instructions are then few."""
    longest_sum: int = 256
    """Numbers added into one register, one after another: longer sums are taken in parts, for their accuracy."""
    longest_product: int = 1024
    """The same, of multiply-adds in register tiles, where each part costs as much as ten of them."""
    vectors_in_flight: int = 4
    """Vectors computed together, so that one is computed while others wait for their latency."""
    most_nchw_vectors: int = 3
    """Vectors of a row that a register tile of NCHW convolutions has."""
    squares_together: int = 4
    """Squares of vectors below each other that are transposed before the next column of them: what they read lies side
    by side, and is of the same pages of memory."""
    columns_sharing_loads: int = 8
    """Entries of an axis of space computed together for one vector of channels: their windows share what they read."""

    # ---- caches
    line_bytes: int = 64
    way_bytes: int = 4096
    """Of the first-level cache, sets × line: addresses a multiple of it apart share a set."""
    l1_ways: int = 8
    spread_bytes: int = 512
    """Rows whose length is a multiple of this are put one line further apart, so that they do not share a few sets."""
    stack_bytes: int = 1 << 16
    """Of one buffer on the stack of a thread."""

    # ---- memory
    streams: tuple[int, ...] = (4, 3, 2)
    """Streams of addresses that the core asks ahead for: with several, more of memory is on its way at a time (from the
    third level 9, 16 and 22 bytes a nanosecond with 1, 2 and 4)."""
    products_hiding_a_weight: int = 14
    """Multiply-adds for each weight that take as long as its way from the second-level cache."""
    products_hiding_a_far_weight: int = 96
    """The same, from the third level."""
    rows_worth_packing: int = 32
    """Rows of a product from which on copying its second matrix costs less than it saves."""
    rows_worth_widening: int = 8
    """Rows up to which a product reads bfloat16 weights as they are, although it multiplies in float32."""

    # ---- threads
    shortest_parallel: int = SHORTEST_PARALLEL_NANOSECONDS
    many_parts: int = 8
    """Iterations for each thread that are enough, since one may be slower than another."""
    even_parts: int = 2
    """Iterations for each thread that are enough where all have equally many."""
    largest_share: float = 1.25
    """What a thread may have, as a multiple of its part."""
    slow_thread_share: float = 0.05
    """What the only block of a slow thread costs, as a part of the whole: it is not taken from it."""
    likely_threads: int = 2
    """Where the run decides how many there are."""
    stretches: int = 8
    """Of a tensor that is reduced to one number, for each thread."""

    # ---- rates on one thread
    elements: int = 5
    """Elements of a formula: read, computed with, written."""
    streamed_products: int = 12
    """Multiply-adds each of which loads its own weight, from the third level; the second gives `near` times as much."""
    tiled_products: int = 60
    """Multiply-adds of register tiles, with vectors of 512 bits."""
    plain_products: float = 68.0
    """Multiply-adds of plain convolutions, which read less data for each (a core at 2.4 GHz with AVX-512)."""
    amx_products: int = 1000
    """Multiply-adds of tiles of AMX."""
    l2_weight_bytes: int = 64
    """Bytes of weights from the second-level cache."""
    near: float = 2.0
    copied_bytes: float = 20.0
    far_copied_bytes: float = 6.0
    """To memory that the system may have to map first."""
    cached_share: int = 4
    """The part of the third-level cache, as its divisor, for what is read and written beside all else."""
    lane_sum: float = 2.0
    """Nanoseconds to add up a vector: four steps, each of which waits for the one before."""
    call: float = 50.0
    """Nanoseconds: a jump to code that is in no near cache, checks, and a cell of the heap."""
    repeated_call: float = 10.0
    """The same where code and cell have just been used."""
    transformed_element: float = 0.22
    """Nanoseconds for an element of Winograd's data or products: written, and read again."""
    kernel_byte: float = 0.09
    """Nanoseconds for a byte of a kernel from memory, 11 bytes a nanosecond; those of a network leave the caches."""

    def widths(self, vectors: tuple[int, ...]) -> tuple[int, ...]:
        """The widths of register tiles of so many vectors, in elements."""
        return tuple(count * self.vector_lanes for count in vectors)

    @property
    def speed(self) -> float:
        """What a vector computes, as a part of what one of 512 bits does, for which rates are."""
        return self.vector_lanes / (512 // _FLOAT32_BITS)

    @property
    def stack_elements(self) -> int:
        """float32 elements of one buffer on the stack."""
        return self.stack_bytes * 8 // _FLOAT32_BITS

    @property
    def nchw_channels(self) -> int:
        """Output channels up to which 1×1 convolutions are faster with vectors along space, as NCHW has it, than with
        vectors along channels, measured with what transposing the data takes."""
        return 2 * self.vector_lanes


@cache
def core_of(target: CpuTarget) -> Core:
    """The core of a resolved target.

    >>> haswell = core_of(CpuTarget(vector_bits=256, l2_bytes=1 << 18))
    >>> haswell.vector_lanes, haswell.widths(haswell.product_vectors)
    (8, (24, 16, 8))
    """
    few = target.register_count < _MANY_REGISTERS
    l1, l2, l3 = target.cache_bytes
    return Core(
        vector_lanes=target.register_bits // _FLOAT32_BITS,
        register_count=target.register_count,
        l1_bytes=l1,
        l2_bytes=l2,
        l3_bytes=l3,
        multiplies_by_lane=target.triple.startswith(("aarch64", "arm64")),
        convolution_vectors=(2, 3, 1) if few else (2, 3, 4, 1),
        product_vectors=(3, 2, 1) if few else (4, 3, 2, 1),
    )
