"""Targets of the CPU print and parse back, and bad ones are explained."""

from __future__ import annotations

import pytest

from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.target import Target
from relay.targets.cpu.target import CpuTarget


@pytest.mark.parametrize(
    "text",
    [
        "llvm",
        "llvm -mcpu=native -num-threads=2",
        "llvm -mattr=+avx2,+fma",
        "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-n1 -vector-width=128 -fp-contract=off",
        "llvm -l1-bytes=1 -l2-bytes=2 -l3-bytes=3",
    ],
)
def test_round_trip(text):
    assert str(Target.parse(text)) == text
    assert Target.parse(str(Target.parse(text))) == Target.parse(text)


def test_features_are_sorted_and_the_last_word_counts():
    assert Target.parse("llvm -mattr=+fma,+avx2,-fma").features == ("+avx2", "-fma")
    assert not Target.parse("llvm -mattr=-fma").has("fma")


@pytest.mark.parametrize(
    ("features", "bits", "lanes", "registers"),
    [("+avx512f", 512, 16, 32), ("+avx2", 256, 8, 16), ("+avx", 256, 8, 16), ("+sse4.1", 128, 4, 16)],
)
def test_vector_width_follows_the_features(features, bits, lanes, registers):
    target = Target.parse(f"llvm -mattr={features}")
    assert (target.register_bits, target.lanes(DType.FLOAT32), target.register_count) == (bits, lanes, registers)
    assert target.lanes(DType.INT8) == bits // 8
    assert Target.parse(f"llvm -mattr={features} -vector-width=128").lanes(DType.FLOAT64) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("llvm -mcpu", "error[unknown-target-flag]: a target of kind `llvm` has no flag `-mcpu`"),
        ("llvm -march=x", "expected: -mtriple=…, -mcpu=…, -mattr=…"),
        ("llvm -mcpus=x", "help: did you mean `-mcpu`?"),
        ("llvm -num-threads=-1", "expected: a whole number, 0 or more"),
        ("llvm -num-threads=", "found:    nothing"),
        ("llvm -mattr=avx2", "expected: features with a sign, such as +avx2,-fma"),
        ("llvm -vector-width=100", "expected: a register width in bits"),
        ("llvm -fp-contract=maybe", "expected: fast or off"),
    ],
)
def test_bad_targets_are_explained(text, message):
    with pytest.raises(RelayError) as caught:
        Target.parse(text)
    assert message in str(caught.value)


def test_caches_have_usual_sizes_when_unknown():
    assert CpuTarget().cache_bytes == (32 * 1024, 1024 * 1024, 8 * 1024 * 1024)
    assert Target.parse("llvm -l2-bytes=5").cache_bytes[1] == 5
