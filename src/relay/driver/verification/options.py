"""What a verification compares on, and how much work it does for that."""

from __future__ import annotations

from relay.base.arguments import WHOLE_NUMBER, Kind, expect, expect_each
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen

_SIZES = Kind((tuple, list), "a tuple of whole numbers")


@frozen
class VerifyOptions:
    """`sizes`: what symbolic extents are about; there is one set of inputs for each. `seed`: of the random numbers.

    A run in the interpreter that would take more than `most_multiply_adds`, or evaluates more than `most_steps` nodes,
    is not made: the report says what is not compared, and why.

    Raises `RelayError` (`wrong-argument`, `verify-options`).

    >>> VerifyOptions(sizes=(4,))
    VerifyOptions(sizes=(4,), seed=0, most_multiply_adds=2000000000, most_steps=200000)
    """

    sizes: tuple[int, ...] = (3, 37)
    seed: int = 0
    most_multiply_adds: int = 2_000_000_000
    most_steps: int = 200_000

    def __post_init__(self) -> None:
        expect(self.sizes, _SIZES, "`sizes` of VerifyOptions")
        expect_each(self.sizes, WHOLE_NUMBER, "one of the `sizes` of VerifyOptions")
        for name in ("seed", "most_multiply_adds", "most_steps"):
            expect(getattr(self, name), WHOLE_NUMBER, f"`{name}` of VerifyOptions")
        numbers = (*self.sizes, self.most_multiply_adds, self.most_steps)
        if not self.sizes or min(numbers) < 1 or self.seed < 0:
            raise RelayError(
                rule="verify-options", message="nothing can be verified by these options",
                expected="sizes and limits of 1 or more, at least one size, and a seed of 0 or more", found=repr(self),
            )  # fmt: skip
        object.__setattr__(self, "sizes", tuple(self.sizes))
