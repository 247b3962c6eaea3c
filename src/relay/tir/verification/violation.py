"""What a verifier finds."""

from __future__ import annotations

from relay.base.frozen import frozen


@frozen
class Violation:
    """One thing that is wrong: a stable rule, a sentence, and the place as text."""

    rule: str
    message: str
    place: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.message}\n  in {self.place}"
