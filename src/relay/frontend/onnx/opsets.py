"""Which version of its operators a model means: one opset for each domain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from relay.frontend.onnx.malformed import malformed
from relay.frontend.shared.findings import Findings
from relay.frontend.shared.names import printable

if TYPE_CHECKING:
    from onnx import OperatorSetIdProto

Opsets = Mapping[str, int]
"""The version of each domain, whose standard one is called \"\"."""

STANDARD = ""
NEWEST: Opsets = MappingProxyType({STANDARD: 28, "ai.onnx.ml": 5, "ai.onnx.preview": 1, "ai.onnx.preview.training": 1})
_FIRST_IR_THAT_NAMES_OPSETS = 3


def domain_of(name: str) -> str:
    """The standard domain has two names."""
    return STANDARD if name == "ai.onnx" else name


def qualified(domain: str, operator: str) -> str:
    """What the table of converters calls an operator.

    >>> qualified("", "Add"), qualified("ai.onnx", "Add"), qualified("ai.onnx.ml", "Scaler")
    ('Add', 'Add', 'ai.onnx.ml.Scaler')
    """
    domain = domain_of(domain)
    return f"{domain}.{operator}" if domain else operator


def named_opsets(entries: Iterable[OperatorSetIdProto]) -> dict[str, int]:
    """The opsets that a model or a function imports. Raises `RelayError` (rule `malformed-onnx`) for a domain twice."""
    found: dict[str, int] = {}
    for entry in entries:
        domain = domain_of(entry.domain)
        if domain in found:
            raise malformed(f"the opset of {_called(domain)} is imported twice", expected="one opset a domain")
        found[domain] = entry.version
    return found


def model_opsets(entries: Iterable[OperatorSetIdProto], ir_version: int) -> dict[str, int]:
    """Those of a model, which before version 3 of the format did not say: it meant the first."""
    found = named_opsets(entries)
    return found if found or ir_version >= _FIRST_IR_THAT_NAMES_OPSETS else {STANDARD: 1}


def supported(opsets: Opsets, findings: Findings, node: str = "the model") -> dict[str, int]:
    """The opsets themselves, or the nearest that there are, so that the search for other problems can go on."""
    kept = dict(opsets)
    for domain, newest in NEWEST.items():
        version = opsets.get(domain, 1)
        if not 1 <= version <= newest:
            of = f" of {domain}" if domain else ""
            findings.add(f"opset {version}{of}", f"{node}; 1 to {newest} can be imported")
            kept[domain] = min(max(version, 1), newest)
    return kept


def version_of(opsets: Opsets, domain: str, operator: str) -> int:
    """The opset that an operator of ONNX's own is taken from. Raises `RelayError` (rule `malformed-onnx`)."""
    if domain not in opsets:
        raise malformed(f"{printable(operator)} is of {_called(domain)}, no opset of which is imported")
    return opsets[domain]


def _called(domain: str) -> str:
    return f"the domain {printable(domain)}" if domain else "the standard operators"
