"""What of a model cannot be imported, gathered so that one error tells all of it."""

from __future__ import annotations

from relay.base.diagnostics import Origin, RelayError

_NAMES_SHOWN = 6
_REASONS_SHOWN = 40


class Findings:
    """Reasons in the order they were found, each with the names of the nodes concerned. `rule` is that of the error.

    >>> findings = Findings("unsupported-onnx")
    >>> for node in ("first", "second"):
    ...     findings.add("operator Loop", node)
    >>> print(findings.error("model.onnx"))
    error[unsupported-onnx]: model.onnx needs what the importer does not have
      operator Loop   in first, second
      help: export the model without these, or replace the nodes named
    """

    def __init__(self, rule: str) -> None:
        self.rule = rule
        self._nodes: dict[str, list[str]] = {}

    def add(self, reason: str, node: str) -> None:
        self._nodes.setdefault(reason, []).append(node)

    def __bool__(self) -> bool:
        return bool(self._nodes)

    def error(self, model: str) -> RelayError:
        """One error that lists everything."""
        shown = list(self._nodes.items())[:_REASONS_SHOWN]
        left = len(self._nodes) - len(shown)
        origins = [Origin(reason, f"in {_names(nodes)}") for reason, nodes in shown]
        if left:
            origins.append(Origin(f"… and {left} more", ""))
        count = len(self._nodes)
        return RelayError(
            rule=self.rule,
            message=f"{model} needs {'what' if count == 1 else f'{count} things that'} the importer does not have",
            origins=tuple(origins),
            remedy="export the model without these, or replace the nodes named",
        )


def _names(nodes: list[str]) -> str:
    shown = ", ".join(nodes[:_NAMES_SHOWN])
    return f"{shown} and {len(nodes) - _NAMES_SHOWN} more" if len(nodes) > _NAMES_SHOWN else shown
