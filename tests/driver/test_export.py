"""`export`: a shared library that a program in C calls with no Python in sight."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import relay
from relay.runtime.call.shared_library import load_shared_library
from tests.driver.programs import WEIGHT, layer, layer_result, rows, same_shape_pair
from tests.messages import check_message

LAYER_IN_C = """
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "layer.h"

static float expected(const float *x, const float *w, int row, int unit) {
    double sum = 0;
    for (int k = 0; k < 4; k++) sum += (double)x[4 * row + k] * w[4 * unit + k];
    return sum > 0 ? (float)sum : 0.0f;
}

static int run(int64_t n) {
    float w[12], *x = malloc(sizeof(float) * (4 * n + 1)), *y = malloc(sizeof(float) * (3 * n + 1));
    for (int i = 0; i < 12; i++) w[i] = (float)(i % 5) - 2;
    for (int64_t i = 0; i < 4 * n; i++) x[i] = (float)(i % 7) - 3;
    y[3 * n] = 123;
    void *buffers[LAYER_INPUTS + LAYER_OUTPUTS] = {x, w, y};
    int64_t symbols[LAYER_SYMBOLS] = {n};
    int status = layer_run(buffers, symbols);
    for (int64_t i = 0; i < 3 * n && !status; i++)
        if (fabsf(y[i] - expected(x, w, (int)(i / 3), (int)(i % 3))) > 1e-4f) status = 100;
    if (y[3 * n] != 123) status = 101;
    free(x);
    free(y);
    return status;
}

static void *many(void *argument) {
    (void)argument;
    long worst = 0;
    for (int64_t n = 0; n < 60; n++) worst |= run(n * 7 % 60);
    return (void *)worst;
}

int main(void) {
    pthread_t threads[2];
    void *results[2];
    layer_set_num_threads(2);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, many, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], &results[i]);
    printf("%ld %ld %d\\n", (long)results[0], (long)results[1], run(1000));
    return results[0] || results[1];
}
"""

CHECKED_IN_C = """
#include <stdio.h>
#include "pair.h"

int main(void) {
    float x[4] = {1, 2, 3, 4}, y[5] = {1, 1, 1, 1, 1}, z[5] = {0};
    void *buffers[] = {x, y, z};
    int64_t same[] = {4, 4}, other[] = {4, 5};
    printf("%d %d", pair_run(buffers, same), pair_run(buffers, other));
    printf(" %g %g\\n", z[0], z[3]);
    return 0;
}
"""


def compile_c(source: str, *libraries: Path) -> Path:
    """A program that is linked with libraries: by the C compiler of the system, or that of ziglang."""
    command = ["cc"] if shutil.which("cc") else [sys.executable, "-m", "ziglang", "cc"]
    text, program = libraries[0].with_name("main.c"), libraries[0].with_name("main")
    text.write_text(source)
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-g", "-pthread"]
    subprocess.run(
        [*command, *flags, str(text), *map(str, libraries), "-lm", "-o", str(program)], check=True, capture_output=True
    )
    return program


def run_c(*command: object, folder: Path) -> subprocess.CompletedProcess[str]:
    """Without Python's environment: the library must be enough."""
    return subprocess.run(
        list(map(str, command)), env={"LD_LIBRARY_PATH": str(folder), "PATH": os.defpath},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("export") / "layer.so"
    relay.build(layer()).export(path)
    return path


def test_a_c_program_runs_any_extent_from_two_threads(library):
    done = run_c(compile_c(LAYER_IN_C, library), folder=library.parent)
    assert done.stdout == "0 0 0\n", done.stderr
    assert done.returncode == 0


@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed")
def test_valgrind_finds_nothing(tmp_path):
    """Code for AVX2, since valgrind knows no AVX-512."""
    relay.build(layer(), target="llvm -mcpu=haswell").export(tmp_path / "layer.so")
    program = compile_c(LAYER_IN_C, tmp_path / "layer.so")
    done = run_c("valgrind", "--error-exitcode=99", "--quiet", program, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "0 0 0\n"


def test_a_failed_check_is_a_status_that_the_header_explains(tmp_path):
    relay.build(same_shape_pair()).export(tmp_path / "pair.so")
    done = run_c(compile_c(CHECKED_IN_C, tmp_path / "pair.so"), folder=tmp_path)
    assert done.stdout == "0 1 2 5\n"
    assert "      1  axis -1 of one input must be n, as m (needs n == m)" in (tmp_path / "pair.h").read_text()


def test_the_header_says_what_goes_in_and_out(tmp_path):
    module = relay.parse(
        '#[version = "0.0.5"]\n'
        "def @main(%image: Tensor[(1, 3, n, n), float32], %scale: float64) { (exp(%image), %scale) }"
    )
    relay.build(module).export(tmp_path / "2-heads.so")
    header = (tmp_path / "2-heads.h").read_text()
    for line in (
        "     0  input  image: float32[1, 3, n, n]",
        "     1  input  scale: float64[], 8 bytes",
        "     2  output output0: float32[1, 3, n, n]",
        "     3  output output1: float64[], 8 bytes",
        "   symbols[i]:\n     0  n",
        "#define MODEL_2_HEADS_INPUTS 2",
        "#define MODEL_2_HEADS_OUTPUTS 2",
        "#define MODEL_2_HEADS_SYMBOLS 1",
    ):
        assert line in header


def test_names_cannot_end_the_comment(tmp_path):
    x = relay.var("x*/ #error y", shape=(2,))
    relay.build(relay.Function([x], relay.exp(x))).export(tmp_path / "odd.so")
    source = '#include "odd.h"\nint main(void) { return ODD_INPUTS - 1; }\n'
    assert run_c(compile_c(source, tmp_path / "odd.so"), folder=tmp_path).returncode == 0


def test_python_loads_what_was_exported(library):
    x = rows(5)
    result = relay.load(library)(x, w=WEIGHT)
    np.testing.assert_allclose(result, layer_result(x, WEIGHT), rtol=1e-5, atol=1e-6)


def test_a_library_follows_what_is_asked_of_threads(library):
    code, _ = load_shared_library(library)
    threads = ctypes.CFUNCTYPE(ctypes.c_int32)(code.address("relay_num_threads"))
    everywhere = threads()
    with relay.num_threads(1):
        assert threads() == 1
        again, _ = load_shared_library(library)
        assert ctypes.CFUNCTYPE(ctypes.c_int32)(again.address("relay_num_threads"))() == 1
    assert threads() == everywhere
    relay.set_num_threads(1)
    assert threads() == 1
    relay.set_num_threads(everywhere)
    assert threads() == everywhere


def test_a_library_that_is_written_anew_is_loaded_anew(tmp_path):
    """The loader of the system would give back the library that it has under this name."""
    path = tmp_path / "model.so"
    x = relay.var("x", shape=(2,))
    loaded = []
    for factor in (2.0, 3.0):
        relay.build(relay.Function([x], x * relay.const(factor))).export(path)
        loaded.append(relay.load(path))
    assert [executable(np.ones(2, np.float32)).tolist() for executable in loaded] == [[2, 2], [3, 3]]


def test_what_was_loaded_from_a_library_is_not_an_artefact(library, tmp_path):
    loaded = relay.load(library)
    for name, write in (("save", loaded.save), ("export", loaded.export)):
        with pytest.raises(relay.RelayError) as caught:
            write(tmp_path / "again")
        check_message("runtime", f"cannot-{name}", caught.value)
    assert not list(tmp_path.iterdir())


def test_for_another_machine(tmp_path):
    """Exported here, run there; here it is refused."""
    relay.build(layer(), target="llvm -mtriple=aarch64-unknown-linux-gnu").export(tmp_path / "layer.so")
    image = (tmp_path / "layer.so").read_bytes()
    assert image[:4] == b"\x7fELF"
    assert int.from_bytes(image[18:20], "little") == 183  # EM_AARCH64
    with pytest.raises(relay.RelayError):
        relay.load(tmp_path / "layer.so")


def test_without_a_linker_the_extra_is_named(tmp_path, monkeypatch):
    executable = relay.build(layer())
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(relay.RelayError) as caught:
        executable.export(tmp_path / "layer.so")
    check_message("driver", "no-linker", caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"\x7fELF" + b"\0" * 500, b"MZ" * 100])
def test_other_files_are_no_libraries(tmp_path, content):
    (tmp_path / "other.so").write_bytes(content)
    with pytest.raises(relay.RelayError, match="bad-artefact"):
        relay.load(tmp_path / "other.so")


def test_a_library_of_somebody_else(tmp_path):
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    (tmp_path / "other.c").write_text("int answer(void) { return 42; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", tmp_path / "other.c", "-o", tmp_path / "other.so"], check=True)
    with pytest.raises(relay.RelayError, match="is not a shared library that relay exported"):
        relay.load(tmp_path / "other.so")


def cut_short(image: bytes) -> bytes:
    return image[: int(len(image) * 0.95)]


def one_bit_changed(image: bytes) -> bytes:
    at = len(image) // 2
    return image[:at] + bytes([image[at] ^ 1]) + image[at + 1 :]


def seal_cut_off(image: bytes) -> bytes:
    return image[:-1]


@pytest.mark.parametrize("damage", [cut_short, one_bit_changed, seal_cut_off], ids=lambda each: each.__name__)
def test_a_library_that_is_not_as_it_was_written_is_refused(library, tmp_path, damage):
    """The system's loader trusts what it maps: it would take the process down, or run other code."""
    damaged = tmp_path / "layer.so"
    damaged.write_bytes(damage(library.read_bytes()))
    with pytest.raises(relay.RelayError) as caught:
        relay.load(damaged)
    check_message("runtime", f"library-{damage.__name__}", str(caught.value).replace(str(tmp_path), "…"))
