"""Machines that are not served are refused when they are named, with what is."""

from __future__ import annotations

import pytest

import relay
from relay.targets.cpu.served_machines import PROCESSORS, known_names
from tests.messages import check_message

X = relay.var("x", shape=("n", 4), dtype="float32")
FUNCTION = relay.Function([X], relay.tanh(relay.nn.dense(X, relay.const([[1.0, 2.0, 3.0, 4.0]]))))

NOT_SERVED = {
    "wasm": "-mtriple=wasm32-unknown-unknown",
    "32-bit": "-mtriple=i386-unknown-linux-gnu",
    "32-bit-pointers": "-mtriple=x86_64-unknown-linux-gnux32",
    "macos": "-mtriple=aarch64-apple-darwin",
    "windows": "-mtriple=x86_64-pc-windows-msvc",
    "unknown-processor-kind": "-mtriple=arm64-unknown-linux-gnu",
    "big-endian": "-mtriple=s390x-unknown-linux-gnu",
    "unknown-cpu": "-mtriple=x86_64-unknown-linux-gnu -mcpu=skylak",
    "cpu-of-another": "-mtriple=aarch64-unknown-linux-gnu -mcpu=znver3",
    "unknown-feature": "-mattr=+avx3",
    "feature-of-another": "-mtriple=riscv64-unknown-linux-gnu -mattr=+avx2",
    "less-than-linux-needs": "-mtriple=riscv64-unknown-linux-gnu -mattr=-d",
    "list-of-cpus": "-mcpu=help",
}


@pytest.mark.parametrize("name", NOT_SERVED)
def test_what_is_not_served_is_refused_when_it_is_named(name, capfd):
    with pytest.raises(relay.RelayError) as caught:
        relay.build(FUNCTION, target=f"llvm {NOT_SERVED[name]}")
    check_message("machines", name, caught.value)
    assert capfd.readouterr().err == ""


def test_a_processor_without_64_bits_is_refused():
    with pytest.raises(relay.RelayError, match="unsupported-target"):
        relay.build(FUNCTION, target="llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=i486")


@pytest.mark.parametrize(
    ("processor", "cpu", "feature"),
    [("x86_64", "znver4", "avx512bf16"), ("aarch64", "neoverse-n1", "sve2"), ("riscv64", "sifive-u74", "v")],
)
def test_llvm_tells_what_it_knows(processor, cpu, feature):
    cpus, features = known_names(f"{processor}-unknown-linux-gnu")
    assert cpu in cpus
    assert feature in features
    assert processor in PROCESSORS


ELF_MACHINES = {"x86_64": 62, "aarch64": 183, "riscv64": 243}


@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize("library", ["gnu", "musl"])
def test_what_is_served_is_built_and_exported(processor, library, tmp_path):
    executable = relay.build(FUNCTION, target=f"llvm -mtriple={processor}-unknown-linux-{library}")
    executable.export(tmp_path / "layer.so")
    head = (tmp_path / "layer.so").read_bytes()[:20]
    assert (head[:4], head[18]) == (b"\x7fELF", ELF_MACHINES[processor])
