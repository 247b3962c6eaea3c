"""Shared libraries that a C program calls."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from relay.arith.expr import Symbol
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.target import Target
from relay.targets.cpu.codegen import emit_object
from relay.targets.cpu.emit import emit_kernel
from relay.targets.cpu.host import resolve
from relay.targets.cpu.link import library as library_module
from relay.targets.cpu.link.elf import ElfObject
from relay.targets.cpu.link.library import link_library
from relay.targets.cpu.link.linker import linker_command
from relay.targets.cpu.support import support_object
from relay.tir.buffer import Buffer
from relay.tir.expr import Binary, BinaryOp, Load, Unary, UnaryOp
from relay.tir.stmt import For, LoopKind, PrimFunc, Store
from tests.targets.cpu.emulator import LibraryImage

C_PROGRAM = """
#include <stdio.h>
#include <math.h>
void kernel(const double *x, double *y, long long n);
int main(void) {
    double x[1000], y[1000], worst = 0;
    for (int i = 0; i < 1000; i++) x[i] = i * 0.01 - 5;
    for (int round = 0; round < 100; round++) kernel(x, y, 1000);
    for (int i = 0; i < 1000; i++) worst = fmax(worst, fabs(y[i] - sin(erf(x[i])) * x[i]));
    printf("%g\\n", worst);
    return worst < 1e-15 ? 0 : 1;
}
"""


def parallel_kernel() -> PrimFunc:
    """y[i] = sin(erf(x[i])) * x[i], on all threads, with functions of the C library."""
    n, i = Symbol("n"), Symbol("i")
    x, y = Buffer("x", (n,), DType.FLOAT64), Buffer("y", (n,), DType.FLOAT64)
    value = Binary(BinaryOp.MULTIPLY, Unary(UnaryOp.SIN, Unary(UnaryOp.ERF, Load(x, (i,)))), Load(x, (i,)))
    return PrimFunc("kernel", (x, y), 1, (n,), For(i, n, Store(y, (i,), value), LoopKind.PARALLEL))


@pytest.fixture(scope="module")
def library(native, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("library") / "libkernel.so"
    kernel = emit_object(emit_kernel(parallel_kernel(), native).text, native)
    link_library([kernel, support_object(native)], path, "library", native, {"kernel": "kernel"})
    return path


def test_a_c_program_calls_the_library(library, tmp_path):
    """With gcc where there is one; zig's compiler is always here, but takes a minute to make its C library."""
    command = ["gcc"] if shutil.which("gcc") else [sys.executable, "-m", "ziglang", "cc"]
    source, program = tmp_path / "main.c", tmp_path / "main"
    source.write_text(C_PROGRAM)
    subprocess.run(
        [*command, str(source), str(library), "-o", str(program), "-lm", "-pthread"], check=True, capture_output=True
    )
    done = subprocess.run(
        [str(program)], env={"LD_LIBRARY_PATH": str(library.parent)}, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_same_objects_give_the_same_library(library, native, tmp_path):
    again = tmp_path / "libkernel.so"
    kernel = emit_object(emit_kernel(parallel_kernel(), native).text, native)
    link_library([kernel, support_object(native)], again, "library", native, {"kernel": "kernel"})
    assert again.read_bytes() == library.read_bytes()


def test_what_is_missing_is_said(native, tmp_path):
    with pytest.raises(RelayError, match="the linker refused the object files"):
        link_library([b"not an object"], tmp_path / "x.so", "x", native, {})
    with pytest.raises(RelayError, match="cannot write"):
        link_library([support_object(native)], tmp_path / "no" / "x.so", "x", native, {})
    assert not list(tmp_path.iterdir())


def test_a_linker_that_is_there_is_used(native, monkeypatch):
    """The system's for this machine, LLVM's for any, and last that of a package."""
    there = {"ld", "ld.lld", "ziglang"}
    monkeypatch.setattr(shutil, "which", lambda name: name if name in there else None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name if name in there else None)
    other = resolve(Target.parse("llvm -mtriple=aarch64-unknown-linux-gnu"))
    assert linker_command(native) == ("ld",)
    assert linker_command(other) == ("ld.lld",)
    there.remove("ld.lld")
    assert linker_command(other)[1:] == ("-m", "ziglang", "ld.lld")
    there.remove("ziglang")
    assert linker_command(native) == ("ld",)
    with pytest.raises(RelayError, match=r'pip install "relay-ir\[export\]"'):
        linker_command(other)


@pytest.mark.parametrize("command", [("ld",), (sys.executable, "-m", "ziglang", "ld.lld")])
def test_every_linker_makes_a_library_that_shows_what_it_exports(native, tmp_path, monkeypatch, command):
    if not shutil.which(command[0]):
        pytest.skip(f"no {command[0]}")
    monkeypatch.setattr(library_module, "linker_command", lambda target: command)
    kernel = emit_object(emit_kernel(parallel_kernel(), native).text, native)
    for suffix in (".so", ".o", ".a"):
        path = tmp_path / f"model{suffix}"
        link_library([kernel, support_object(native)], path, "model", native, {"kernel": "model_kernel"})
        assert b"model_kernel\0" in path.read_bytes()
    image = (tmp_path / "model.o").read_bytes()
    assert {each for each in ElfObject(image).defined() if not each.startswith("model.")} == {"model_kernel"}
    shown = {
        name
        for name, (is_defined, _) in LibraryImage.of((tmp_path / "model.so").read_bytes()).symbols.items()
        if is_defined
    }
    assert shown == {"model_kernel"}


def test_folders_that_a_killed_process_left_behind_are_removed(native, tmp_path, monkeypatch):
    """But neither those that somebody links in, nor those that he has just made and not locked yet."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    left, used, young = (tmp_path / f"relay-link-{name}" for name in ("left", "used", "young"))
    for folder in (left, used, young):
        folder.mkdir()
        (folder / "lock").touch()
        (folder / "0000.o").touch()
    for folder in (left, used):
        os.utime(folder, (1, 1))
    with (used / "lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        link_library([emit_object("", native)], tmp_path / "empty.so", "empty", native, {})
    assert {path.name for path in tmp_path.iterdir()} == {"empty.so", used.name, young.name}
