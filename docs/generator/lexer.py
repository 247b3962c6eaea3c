"""Colours for the text of Relay, which Pygments does not know."""

from __future__ import annotations

from typing import Any

from pygments.lexer import RegexLexer, words
from pygments.lexers import LEXERS
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

__all__ = ["RelayLexer"]


class RelayLexer(RegexLexer):
    """Programs in the text format: ```` ```relay ````."""

    name = "Relay"
    aliases = ("relay",)
    tokens = {  # noqa: RUF012
        "root": [
            (r"\s+", Whitespace),
            (r"#\[[^\]]*\]", Comment.Preproc),
            (r"//.*|/\*[\s\S]*?\*/", Comment),
            (r'"(?:\\.|[^"\\])*"', String),
            (words(("def", "extern", "fn", "if", "else", "let", "match", "type"), suffix=r"\b"), Keyword),
            (words(("Tensor", "ref", "bool"), suffix=r"\b"), Keyword.Type),
            (r"(?:u?int|float|bfloat)\d+\b", Keyword.Type),
            (r"[@%][\w.]+", Name.Variable),
            (r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?:f|u|i)?\d*", Number),
            (r"[A-Za-z_][\w.]*", Name),
            (r"->|=>|[-+*/<>=!?]", Operator),
            (r"[()\[\]{},;:.]", Punctuation),
        ]
    }


def on_config(config: Any) -> Any:
    LEXERS["RelayLexer"] = (__name__, "Relay", ("relay",), ("*.relay",), ())
    return config
