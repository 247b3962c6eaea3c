"""One part of a compilation compared with what it means, on each of the inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.driver.verification.distance import Distance, judged
from relay.driver.verification.failure import Wrong
from relay.driver.verification.inputs import Draw
from relay.driver.verification.meanings import UNABLE, reason_of
from relay.driver.verification.observed import Seen
from relay.interpret.machine import CallOperator
from relay.runtime.verification import Comparison

UNDECIDED = "rounding alone changes the result by as much as there is of it"


@frozen(eq=False)
class Compare:
    """What is meant on a draw, what is found, and what programs give by operators that are called otherwise."""

    meant: Callable[[Draw], Sequence[Seen]]
    found: Callable[[Draw], Sequence[Seen]]
    again: Callable[[Draw, CallOperator], Sequence[tuple[Sequence[Seen], Sequence[Seen]]]]


def compared(
    row: Comparison, compare: Compare, draws: Mapping[Draw, str], reason: str, wrong: Callable[[], Wrong]
) -> Comparison:
    """`row` with what was compared on `draws`, which have their descriptions, and how far it was off. `reason`: why
    there are no more draws.

    Raises `RelayError` (rule `verification-failed`) at the first that is farther off than the class of `row` allows.
    """
    reasons = [reason] if reason else []
    for draw, shown in draws.items():
        try:
            meant = compare.meant(draw)
        except RelayError as error:
            reasons.append(reason_of(error))
            continue
        try:
            found = compare.found(draw)
        except RelayError as error:
            if error.rule in UNABLE:
                reasons.append(reason_of(error))
                continue
            failed = Distance(float("inf"), place="the whole", what=f"it fails: {error.message}")
            raise wrong().error(draw, shown, row.floating_point, failed, 0.0) from error
        verdict = judged(found, meant, row.floating_point, lambda call, draw=draw: compare.again(draw, call))
        if not verdict.is_right:
            raise wrong().error(draw, shown, row.floating_point, verdict.distance, verdict.allowed)
        if verdict.is_undecided:
            reasons.append(UNDECIDED)
            continue
        off = verdict.distance
        row = replace(row, inputs=row.inputs + 1)
        if off.relative > row.relative:
            row = replace(row, absolute=off.absolute, relative=off.relative, ulp=off.ulp, allowed=verdict.allowed)
    return replace(row, reason="; ".join(dict.fromkeys(reasons)))
