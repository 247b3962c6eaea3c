"""ONNX's own backend suite: no case is wrong, and those that passed once pass. `onnx_suite.py` compiles all of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.frontend.onnx_suite import SuiteCase, run_case, suite_cases

PASSING = Path(__file__).with_name("onnx_suite_passing.txt")
EVERY = 24
"""Of the cases that pass, one in so many is compiled here."""


@pytest.fixture(scope="module")
def cases() -> dict[str, SuiteCase]:
    return {case.name: case for case in suite_cases()}


@pytest.fixture(scope="module")
def passing() -> list[str]:
    return PASSING.read_text(encoding="utf-8").split()


def test_cases_pass_or_are_refused(cases, passing):
    """By the reference interpreter. What is refused is told by a `RelayError`; what passed before is not refused."""
    found = {name: run_case(case, compiled=False) for name, case in cases.items()}
    assert not {name: each for name, each in found.items() if each.kind in ("wrong", "crashed")}
    passed = [name for name, each in found.items() if each.kind == "passed"]
    if os.environ.get("UPDATE_GOLDEN"):
        PASSING.write_text("\n".join(sorted(passed)) + "\n", encoding="utf-8")
    assert not {name: found[name] for name in set(passing) - set(passed)}


def test_a_slice_of_them_passes_compiled(cases, passing):
    chosen = passing[::EVERY]
    assert len(chosen) > 30
    found = {name: run_case(cases[name]) for name in chosen}
    assert not {name: each for name, each in found.items() if each.kind != "passed"}
