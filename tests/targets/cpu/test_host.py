"""What the host is, and what targets become on it."""

from __future__ import annotations

import subprocess
import sys

import llvmlite.binding as llvm
import pytest

import relay
from relay.base.diagnostics import CompilerBug, RelayError
from relay.base.target import Target
from relay.driver.build import compile_stages
from relay.runtime.artefact.machine import RequiredMachine
from relay.runtime.memory.host import check_runs_here
from relay.runtime.memory.tiles import ask_for_tiles
from relay.targets.cpu import object_code
from relay.targets.cpu.codegen import emit_object
from relay.targets.cpu.emit.programs.shared_entry import emit_shared_entry
from relay.targets.cpu.host import host_features, resolve, supports
from relay.targets.cpu.target import CpuTarget


@pytest.mark.parametrize("text", ["llvm", "llvm -mcpu=native", "llvm -num-threads=3"])
def test_the_native_target_has_the_hosts_features(text):
    target = resolve(Target.parse(text))
    assert target.is_resolved
    assert target.features == host_features()
    assert supports(target)
    assert resolve(target) == target
    assert Target.parse(str(target)) == target


def test_stated_features_are_all_there_is():
    target = resolve(Target.parse("llvm -mattr=+avx2,+fma"))
    assert target.features == ("+avx2", "+fma")
    assert (target.vector_bits, target.cpu) == (256, "")


def test_a_stated_feature_wins_over_the_hosts():
    assert "-avx2" in resolve(Target.parse("llvm -mcpu=native -mattr=-avx2")).features


def test_another_machine_is_not_supported_here():
    target = resolve(Target.parse("llvm -mtriple=s390x-unknown-linux-gnu"))
    assert not supports(target)
    assert target.cache_bytes == CpuTarget().cache_bytes


def test_a_machine_that_llvm_does_not_know():
    with pytest.raises(RelayError, match="LLVM has no code generator for this target"):
        emit_object("", resolve(Target.parse("llvm -mtriple=pdp11-dec-unix")))


def test_an_open_target_is_a_bug_of_ours():
    with pytest.raises(CompilerBug, match="has not been resolved"):
        emit_object("", CpuTarget())


def test_workers_import_nothing_of_the_compiler():
    command = [sys.executable, "-P", "-X", "importtime", object_code.__file__]
    done = subprocess.run(command, input=b"", capture_output=True, check=True)
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.decode().splitlines()}
    assert "llvmlite" in imported
    assert not imported & {"relay", "numpy", "ml_dtypes"}


def test_objects_are_the_same_every_time():
    target = resolve(Target.parse("llvm"))
    text = "define float @f(float %x) {\n  %y = fadd float %x, 1.0\n  ret float %y\n}\n"
    assert emit_object(text, target) == emit_object(text, target)


def test_a_named_processor_has_its_features():
    resolved = resolve(Target.parse("llvm -mcpu=skylake-avx512 -mtriple=x86_64-unknown-linux-gnu"))
    assert resolved.has("avx512f")
    assert resolved.register_bits == 512
    assert resolve(Target.parse("llvm -mcpu=haswell -mtriple=x86_64-unknown-linux-gnu")).register_bits == 256


def test_native_targets_have_tiles_only_where_the_system_grants_them(monkeypatch):
    have = {"avx512f": True, "amx-tile": True, "amx-bf16": True, "amx-fp16": False}
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", lambda: have)
    monkeypatch.setattr("relay.targets.cpu.host.ask_for_tiles", lambda: True)
    assert host_features() == ("+amx-bf16", "+amx-tile", "+avx512f")
    monkeypatch.setattr("relay.targets.cpu.host.ask_for_tiles", lambda: False)
    assert host_features() == ("+avx512f",)


def test_programs_with_tiles_ask_for_them(monkeypatch):
    have = {"amx-tile": True, "amx-bf16": True}
    machine = RequiredMachine(features=("amx-bf16", "amx-tile"))
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", lambda: have)
    monkeypatch.setattr("relay.runtime.memory.tiles.ask_for_tiles", lambda: True)
    check_runs_here(machine)
    monkeypatch.setattr("relay.runtime.memory.tiles.ask_for_tiles", lambda: False)
    with pytest.raises(RelayError, match="no-tiles") as caught:
        check_runs_here(machine)
    assert "-mattr=-amx-tile" in str(caught.value)


def test_the_answer_of_the_system_is_that_of_its_features():
    """A CPU whose tiles are in use here has them granted; one without is refused."""
    assert isinstance(ask_for_tiles(), bool)
    if not llvm.get_host_cpu_features().get("amx-tile", False):
        assert not ask_for_tiles()


def test_exported_libraries_ask_for_tiles():
    x = relay.var("x", shape=(1, 4), dtype="float32")
    function = relay.Function([x], relay.nn.relu(x))
    manifest = compile_stages(function, "llvm -num-threads=1").artefact.manifest
    for features, asks in (("+avx512f,+amx-tile,+amx-bf16", 1), ("+avx512f", 0)):
        target = resolve(Target.parse(f"llvm -mtriple=x86_64-unknown-linux-gnu -mattr={features}"))
        text = emit_shared_entry(manifest, target)
        assert text.count("call i1 @relay_ask_for_tiles()") == asks
        emit_object(text, target)
