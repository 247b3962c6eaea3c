from pathlib import Path

from relay.base.diagnostics import RelayError
from relay.base.span import Source, Span


def test_the_source_is_read_for_the_message_alone(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    error = RelayError(rule="bad", message="it is bad", span=Span(Source(str(path)), 1))
    path.write_text("x = 1\n")
    assert str(error.at(None)) == f"error[bad]: it is bad\n  at {path}:1\n    x = 1"
    assert repr(error) == "RelayError('bad', 'it is bad')"
