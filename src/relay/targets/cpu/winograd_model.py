"""Which convolutions of 3×3 are computed by minimal filtering: estimates of the time of one image on one thread.

    plain     multiply-adds / rate of plain sums
    F(m, 3)   multiply-adds of its products / their rate  +  elements of both transforms  +  bytes of its kernel

Rates were measured on a core with AVX-512 at 2.4 GHz (77 multiply-adds a nanosecond) with 1 MB of second-level cache.
With them, and 0.04 nanoseconds for a byte of a kernel that is in the third-level cache still, layers of ResNet-18,
VGG-16 and SqueezeNet take within a quarter of their estimates. All of it is divided by threads, whose number changes
no choice; narrower vectors compute less in a nanosecond. Kernels are (m + 2)² / 9 times as large as plain ones, so with
few tiles their way from memory takes longer than the products.
"""

from __future__ import annotations

from relay.base.frozen import frozen
from relay.ops.nn.winograd import MINIMAL, TAPS, algorithm_name
from relay.targets.cpu.core import Core, core_of
from relay.targets.cpu.target import CpuTarget
from relay.transform.framework.context import ConvolutionExtents

_WORTH_IT = 0.85  # the share of the time of plain sums under which their smaller errors are given up
_LARGEST_DEPTH = 1024  # channels summed over up to which errors were measured


@frozen
class WinogradModel:
    """The estimate for a resolved target; called, it gives the best size of tiles, or 0 for plain sums."""

    target: CpuTarget

    def __call__(self, convolution: ConvolutionExtents) -> int:
        """2 or 4 results along each axis of a tile; 0 where plain sums are faster, or nearly as fast.

        >>> model = WinogradModel(CpuTarget(vector_bits=512))
        >>> model(ConvolutionExtents(56, 56, 64, 64)), model(ConvolutionExtents(14, 14, 256, 256))
        (4, 2)
        >>> model(ConvolutionExtents(7, 7, 512, 512)), model(ConvolutionExtents(112, 112, 8, 3))
        (0, 0)
        """
        if convolution.depth > _LARGEST_DEPTH:
            return 0
        times = {tile: self.nanoseconds(convolution, tile) for tile in MINIMAL}
        best = min(times, key=lambda tile: times[tile])
        return best if times[best] < _WORTH_IT * self.plain_nanoseconds(convolution) else 0

    def why(self, extents: tuple[int, int, int, int], tile: int) -> str:
        """Why a convolution that makes so many rows, columns and channels of so many channels is computed in tiles of
        `tile`, or by plain sums.

        >>> WinogradModel(CpuTarget(vector_bits=512)).why((7, 7, 512, 512), 0)
        'by F(2, 3) it takes 158% of the time of plain sums, by the model of the core'
        """
        convolution = ConvolutionExtents(*extents)
        if not tile and convolution.depth > _LARGEST_DEPTH:
            return f"errors of minimal filtering were measured for sums over {_LARGEST_DEPTH} channels at most"
        named = tile or min(MINIMAL, key=lambda each: self.nanoseconds(convolution, each))
        share = self.nanoseconds(convolution, named) / self.plain_nanoseconds(convolution)
        return f"by {algorithm_name(named)} it takes {share:.0%} of the time of plain sums, by the model of the core"

    def plain_nanoseconds(self, convolution: ConvolutionExtents) -> float:
        """By plain sums; channels in whole vectors."""
        outputs = self._whole(convolution.channels)
        multiply_adds = convolution.rows * convolution.columns * TAPS * TAPS * convolution.depth * outputs
        return multiply_adds / (self._core.plain_products * self._core.speed)

    def nanoseconds(self, convolution: ConvolutionExtents, tile: int) -> float:
        """By minimal filtering, in tiles of `tile` × `tile` results."""
        core, points = self._core, MINIMAL[tile].points ** 2
        tiles = -(-convolution.rows // tile) * -(-convolution.columns // tile)
        outputs, depth = self._whole(convolution.channels), self._whole(convolution.depth)
        kernel = points * convolution.depth * outputs
        products = kernel * max(tiles, core.products_hiding_a_weight) / (core.tiled_products * core.speed)
        transforms = points * tiles * (depth + outputs) * core.transformed_element / core.speed
        return products + transforms + kernel * 4 * core.kernel_byte

    @property
    def _core(self) -> Core:
        return core_of(self.target)

    def _whole(self, channels: int) -> int:
        """Channels in whole vectors."""
        lanes = self._core.vector_lanes
        return -(-channels // lanes) * lanes
