"""What the host is, and what targets become on it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from relay.base.diagnostics import CompilerBug, RelayError
from relay.base.target import Target
from relay.targets.cpu import object_code
from relay.targets.cpu.codegen import emit_object, optimization_level
from relay.targets.cpu.host import host_features, resolve, supports


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
    assert target.cache_bytes == Target().cache_bytes


def test_a_machine_that_llvm_does_not_know():
    with pytest.raises(RelayError, match="LLVM has no code generator for this target"):
        emit_object("", resolve(Target.parse("llvm -mtriple=pdp11-dec-unix")))


def test_an_open_target_is_a_bug_of_ours():
    with pytest.raises(CompilerBug, match="has not been resolved"):
        emit_object("", Target())


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


def test_vector_code_needs_little_of_llvm():
    assert optimization_level("%a = fadd <16 x float> %b, %c") == 1
    assert optimization_level("%a = fadd float %b, %c\n%s = alloca [16 x i8]") == 2


def test_a_named_processor_has_its_features():
    resolved = resolve(Target.parse("llvm -mcpu=skylake-avx512 -mtriple=x86_64-unknown-linux-gnu"))
    assert resolved.has("avx512f")
    assert resolved.register_bits == 512
    assert resolve(Target.parse("llvm -mcpu=haswell -mtriple=x86_64-unknown-linux-gnu")).register_bits == 256
