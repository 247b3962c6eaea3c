"""What operators have not yet, by reason: a list that may only shrink. With UPDATE_GOLDEN=1 it is written anew."""

import os
import re
from pathlib import Path
from textwrap import fill

import pytest

from relay.base.diagnostics import RelayError
from relay.ops.framework.batch_rule import NoBatchRule
from relay.ops.framework.record import FusionKind, NotDifferentiable, NotYetDifferentiable
from relay.ops.framework.scale_role import NoScale
from relay.ops.table import OPERATORS
from tests.messages import check_message
from tests.ops.test_own_operators import twice

GOLDEN = Path(__file__).parents[1] / "golden" / "missing_facts.txt"
_LINES = {"initial_indent": "  ", "subsequent_indent": "  ", "break_on_hyphens": False}
MISSING = (NotDifferentiable, NotYetDifferentiable, NoBatchRule, NoScale)


def missing() -> dict[tuple[str, str], list[str]]:
    """The operators without a fact, by the kind of fact and the reason."""
    found: dict[tuple[str, str], list[str]] = {}
    for record in OPERATORS.values():
        for fact in (record.gradient, record.batch, record.scale):
            if isinstance(fact, MISSING):
                found.setdefault((type(fact).__name__, fact.reason), []).append(record.name)
    return found


def test_what_operators_have_not_is_listed_with_its_reason() -> None:
    parts = [
        f"{kind}: {reason} ({len(names)})\n{fill(' '.join(sorted(names)), 110, **_LINES)}\n"
        for (kind, reason), names in sorted(missing().items())
    ]
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text("\n".join(parts), encoding="utf-8")
    assert "\n".join(parts) == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("fact", ["batch", "scale"])
def test_a_fact_that_does_not_follow_must_be_given(fact: str) -> None:
    facts = {"batch": NoBatchRule("not yet"), "scale": NoScale("not yet")} | {fact: None}
    with pytest.raises(RelayError) as caught:
        twice("mine.opaque", fusion=FusionKind.OPAQUE, **facts)
    message = re.sub(r"  at .*\n.*\n", "", f"{caught.value}")  # the line of the other file
    check_message("ops", f"operator_fact_{fact}", message)
