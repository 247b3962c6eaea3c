"""Manifests: what is written is read back; what nobody wrote is refused."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.arith.expr import Symbol, evaluate, maximum, minimum
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.runtime.artefact.extent_json import extent_from_json, extent_to_json
from relay.runtime.artefact.failures import Failure, FailureKind
from relay.runtime.artefact.manifest import Donation, EntrySpec, HeapResult, Manifest, TensorSpec, TupleSpec, ValueSpec
from relay.runtime.artefact.value_types import DataOf, TensorOf, TupleOf

N, M = Symbol("n"), Symbol("m")


def sample() -> Manifest:
    entry = EntrySpec(
        name="main",
        inputs=(TensorSpec("x", (N, 4), DType.FLOAT32), TensorSpec("i", (M,), DType.INT64)),
        outputs=(TensorSpec("y", (2 * N + 1, N * M), DType.BFLOAT16), TensorSpec("z", (), DType.BOOL)),
        result=TupleSpec((0, TupleSpec((1,)))),
        symbols=(N, M),
        workspace_bytes=64 * ((N * 4 + 63) // 64),
        failures=(Failure(FailureKind.EXTENTS, "extents differ (needs n == m)"),),
    )
    return Manifest((entry,), {"compiler": "relay 0"})


def test_round_trip_is_byte_for_byte() -> None:
    text = sample().to_json()
    assert Manifest.from_json(text).to_json() == text


def test_results_that_are_copied_off_a_heap() -> None:
    entry = replace(sample().entry("main"), result=HeapResult(copied=TupleSpec((0, TupleSpec((1,))))))
    text = Manifest((entry,), {}).to_json()
    read = Manifest.from_json(text)
    assert read.to_json() == text
    assert read.entry("main").copied == entry.copied == sample().entry("main").copied
    with pytest.raises(RelayError, match="bad-manifest"):
        Manifest.from_json(text.replace('"copied":[0,[1]]', '"copied":[0,[2]]'))


def test_results_in_the_memory_of_inputs() -> None:
    entry = sample().entry("main")
    donations = (Donation(1, 3), Donation(0, 2), Donation(None, 0))
    given = replace(entry, inputs=(*entry.inputs, *entry.outputs), donations=donations)
    text = Manifest((given,), {}).to_json()
    assert Manifest.from_json(text).entry("main").donations == given.donations
    for wrong in ("[1,2]", "[2,3]", "[1,-1]", "[null,-1]", "[null,9]"):
        with pytest.raises(RelayError, match="bad-manifest"):
            Manifest.from_json(text.replace("[1,3]", wrong))


@pytest.mark.parametrize(
    "expr", [3, N, 2 * N + 1, N * M - 4, (N + 3) // 4, N % 8, minimum(N, M), maximum(N * 2, 7), (N * M + 1) // (M + 1)]
)
def test_extents_keep_their_value(expr: object) -> None:
    read = extent_from_json(json.loads(json.dumps(extent_to_json(expr))), {"n": N, "m": M})
    for n in range(1, 9):
        for m in range(1, 5):
            assert evaluate(read, {N: n, M: m}) == evaluate(expr, {N: n, M: m})


def test_another_format_says_so() -> None:
    text = sample().to_json().replace('"format":6', '"format":99')
    with pytest.raises(RelayError, match=r"error\[artefact-version\].*\n  expected: format 6\n  found:    format 99"):
        Manifest.from_json(text)


@given(st.data())
def test_damaged_manifests_are_refused_or_read(data: st.DataObject) -> None:
    text = sample().to_json()
    at = data.draw(st.integers(0, len(text) - 1))
    damaged = text[:at] + data.draw(st.text(max_size=3)) + text[at + data.draw(st.integers(0, 5)) :]
    with suppress(RelayError):
        Manifest.from_json(damaged)


def test_deep_nesting_is_refused() -> None:
    extent = "[" * 5000 + "]" * 5000
    with pytest.raises(RelayError, match="bad-manifest"):
        Manifest.from_json(sample().to_json().replace('"workspace_bytes":', f'"workspace_bytes":{extent},"x":'))


def test_donated_parts_of_an_input() -> None:
    pair = TupleOf((TensorOf((2,), DType.FLOAT32), TupleOf((DataOf("List"),))))
    donations = (Donation(None, 0, (1, 0)), Donation(None, 0, (0,)))
    entry = EntrySpec("main", (ValueSpec("p", pair),), (), HeapResult(), (), 64, donations=donations)
    text = Manifest((entry,), {}).to_json()
    assert Manifest.from_json(text).entry("main").donations == donations
    for wrong in ("[null,0,2]", "[null,0,-1]", "[null,0,0,0]", "[null,0,1,0,0]", "[0,0,0]"):
        with pytest.raises(RelayError, match="bad-manifest"):
            Manifest.from_json(text.replace("[null,0,0]", wrong))
