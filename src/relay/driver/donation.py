"""What callers give away that no result can take: said once a compilation."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from relay.lower.boundary.donation import donated_positions
from relay.lower.program.program import Entry

_LOG = logging.getLogger(__name__)


def warn_of_unused(donate: Sequence[str], entries: Sequence[Entry]) -> None:
    """A warning to the log of the inputs in `donate` whose memory no result of `@main` takes."""
    for entry in entries:
        taken = {each.input for each in entry.donations}
        unused = [entry.inputs[position] for position in donated_positions(entry, donate) if position not in taken]
        if unused:
            _LOG.warning(
                "no result takes the memory of %s, which is donated: it needs one of the same type for each, and "
                "neither functions nor refs among inputs and results",
                ", ".join(f"`{each}`" for each in unused),
            )
