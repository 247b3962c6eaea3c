"""The first line of a text: which version of the format it is in."""

from __future__ import annotations

from relay.base.diagnostics import RelayError
from relay.text.cursor import Cursor
from relay.text.lexer import Kind

SUPPORTED_VERSION = "0.0.5"


def read_version(cursor: Cursor, required: bool) -> None:
    """Pass the version line. Raises `RelayError` (rules `syntax`, `unknown-version`)."""
    if not cursor.at("#["):
        if required:
            cursor.fail("a module begins with its version", '#[version = "0.0.5"]')
        return
    cursor.advance()
    cursor.expect("version", "in the first line")
    cursor.expect("=", "in the first line")
    span = cursor.span()
    version = cursor.expect_kind(Kind.STRING, "where the version stands")
    if version != f'"{SUPPORTED_VERSION}"':
        raise RelayError(
            rule="unknown-version",
            message="the text is of another version",
            span=span,
            expected=f'"{SUPPORTED_VERSION}"',
            found=version,
        )
    cursor.expect("]", "after the version")
