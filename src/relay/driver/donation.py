"""What callers give away that no result can take: said once a compilation."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from relay.lower.boundary.donation import donated_parts
from relay.lower.program.program import Entry

_LOG = logging.getLogger(__name__)


def warn_of_unused(donate: Sequence[str], entries: Sequence[Entry]) -> None:
    """A warning to the log of the inputs in `donate` whose memory no result of `@main` takes."""
    for entry in entries:
        taken = {(each.input, each.fields) for each in entry.donations}
        unused = [
            part for part in donated_parts(entry, donate) if (part.donation.input, part.donation.fields) not in taken
        ]
        if unused:
            _LOG.warning(
                "no result takes the memory of %s, which is donated: it needs one of the same type for each, and "
                "neither functions nor refs among inputs and results",
                ", ".join(f"`{each}`" for each in unused),
            )
