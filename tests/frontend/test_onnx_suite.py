"""ONNX's own backend suite: no case is wrong, and those that passed once pass. `onnx_suite.py` compiles all of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.frontend.onnx_suite import Outcome, SuiteCase, run_case, suite_cases

PASSING = Path(__file__).with_name("onnx_suite_passing.txt")
EVERY = 24
"""Of the cases that pass, one in so many is compiled here."""
EVERY_SYMBOLIC = 8
"""Of the cases that pass, one in so many is imported with symbols for its extents here."""


@pytest.fixture(scope="module")
def cases() -> dict[str, SuiteCase]:
    return {case.name: case for case in suite_cases()}


@pytest.fixture(scope="module")
def passing() -> list[str]:
    return PASSING.read_text(encoding="utf-8").split()


def refusals(found: Mapping[str, Outcome]) -> str:
    """The reasons, each with its cases."""
    by_reason: dict[str, list[str]] = {}
    for name, each in sorted(found.items()):
        if each.kind == "refused":
            by_reason.setdefault(each.reason, []).append(name.removeprefix("test_"))
    return "\n".join(f"{reason}\n    {', '.join(names)}" for reason, names in sorted(by_reason.items()))


def test_cases_pass_or_are_refused(cases, passing, golden):
    """By the reference interpreter. What is refused is told by a `RelayError`; what passed before is not refused."""
    found = {name: run_case(case, compiled=False) for name, case in cases.items()}
    assert not {name: each for name, each in found.items() if each.kind in ("wrong", "crashed")}
    golden("suite_refusals.txt", refusals(found))
    assert "malformed" not in refusals(found)
    passed = [name for name, each in found.items() if each.kind == "passed"]
    if os.environ.get("UPDATE_GOLDEN"):
        PASSING.write_text("\n".join(sorted(passed)) + "\n", encoding="utf-8")
    assert not {name: found[name] for name in set(passing) - set(passed)}


def test_a_slice_of_them_passes_compiled(cases, passing):
    chosen = passing[::EVERY]
    assert len(chosen) > 30
    found = {name: run_case(cases[name]) for name in chosen}
    assert not {name: each for name, each in found.items() if each.kind != "passed"}


def test_a_slice_of_them_passes_with_symbols_for_extents(cases, passing):
    """By the reference interpreter. What a symbol keeps from being imported is refused."""
    chosen = passing[::EVERY_SYMBOLIC]
    found = {name: run_case(cases[name], compiled=False, symbolic=True) for name in chosen}
    assert not {name: each for name, each in found.items() if each.kind in ("wrong", "crashed")}
    refused = [name for name, each in found.items() if each.kind == "refused"]
    assert len(refused) <= 0.06 * len(chosen), refused


@pytest.mark.parametrize("name", [
    "test_linear_attention_gated_delta", "test_linear_attention_decode_step",  # a loop over what has extents n // 4
    "test_attention_4d_padded_kv_bf16",  # pads that are extents
    "test_split_to_sequence_1",  # parts as wide as a symbol says
])  # fmt: skip
def test_what_is_computed_from_extents_is_known(cases, name):
    assert run_case(cases[name], compiled=False, symbolic=True).kind == "passed"
