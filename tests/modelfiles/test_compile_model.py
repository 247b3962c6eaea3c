"""`relay.compile_model`: a file is compiled once, and never taken for another."""

from __future__ import annotations

import errno
import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import relay
from relay.modelfiles import compiling
from tests.driver.processes import environment

SCALED = """#[version = "0.0.5"]
def @main(%x: Tensor[(3), float32], %w: Tensor[(3), float32]) {{ add(multiply(%x, %w), {}f) }}
"""
X = np.arange(3, dtype=np.float32)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RELAY_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("RELAY_CACHE", raising=False)
    return tmp_path / "cache" / "models"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "model.relay"
    path.write_text(SCALED.format(1))
    return path


def _run(path: Path, weight: float = 2.0, **options: object) -> np.ndarray:
    return relay.compile_model(path, params={"w": np.full(3, weight, np.float32)}, **options)(X)


def _artefacts(kept: Path) -> list[Path]:
    return sorted(kept.glob("??/*.rlx"))


def test_the_second_time_nothing_is_compiled(kept: Path, path: Path, monkeypatch: pytest.MonkeyPatch):
    np.testing.assert_array_equal(_run(path), X * 2 + 1)
    assert len(_artefacts(kept)) == 1
    monkeypatch.setattr(relay.driver, "compile_stages", None)
    np.testing.assert_array_equal(_run(path), X * 2 + 1)


def test_an_exported_program_of_pytorch_is_imported_once(kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    layer, path, x = torch.nn.Linear(3, 2), tmp_path / "layer.pt2", torch.ones(4, 3)
    torch.export.save(torch.export.export(layer, (x,)), path)
    expected = layer(x).detach().numpy()
    np.testing.assert_allclose(relay.compile_model(path)(x.numpy()), expected, rtol=1e-6)
    monkeypatch.setattr(relay.frontend, "from_pytorch", None)
    np.testing.assert_allclose(relay.compile_model(path)(x.numpy()), expected, rtol=1e-6)
    path.write_bytes(path.read_bytes()[:2000])
    monkeypatch.undo()
    with pytest.raises(relay.RelayError, match="is not an exported program, or is damaged"):
        relay.compile_model(path)


def test_a_pickle_is_not_read(tmp_path: Path):
    (tmp_path / "model.pt").write_bytes(b"cos\nsystem\n")
    with pytest.raises(relay.RelayError, match=r"(?s)cannot tell what .*save it with torch.export.save"):
        relay.compile_model(tmp_path / "model.pt")


def test_what_differs_is_compiled_anew(kept: Path, path: Path):
    _run(path)
    np.testing.assert_array_equal(_run(path, weight=3.0), X * 3 + 1)
    _run(path, opt_level=0)
    _run(path, target="llvm -num-threads=1")
    state = path.stat()
    path.write_text(SCALED.format(5))  # as long as before, and as old
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    np.testing.assert_array_equal(_run(path), X * 2 + 5)
    assert len(_artefacts(kept)) == 5


def test_what_looks_alike_at_a_glance_is_told_apart(kept: Path, tmp_path: Path):
    path = tmp_path / "model.relay"
    start = SCALED.format(1) + "//" + " " * 90_000
    for text in (start, start[:5000] + "x" + start[5001:]):
        path.write_text(text)
        np.testing.assert_array_equal(_run(path), X * 2 + 1)
    assert len({artefact.name[:10] for artefact in _artefacts(kept)}) == 1
    assert len(_artefacts(kept)) == 2


def test_without_room_on_the_disk_nothing_is_kept(
    kept: Path, path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    model = relay.parse(
        '#[version = "0.0.5"]\ndef @main(%x: Tensor[(3), float32], %w: Tensor[(3), float32]) { add(%x, %w) }'
    )
    path.write_text(relay.astext(model))
    with caplog.at_level(logging.WARNING):
        np.testing.assert_array_equal(_run(path), X + 2)
    assert "No space left" in caplog.text
    assert not list(kept.glob("**/*.*"))


def test_what_is_written_while_it_is_compiled_is_another_model(kept: Path, path: Path):
    before = path.read_text()

    def meddle(*_: object) -> None:
        path.write_text(SCALED.format(7))

    np.testing.assert_array_equal(_run(path, progress=meddle), X * 2 + 1)
    for _ in range(2):
        np.testing.assert_array_equal(_run(path), X * 2 + 7)
        path.write_text(before)
        np.testing.assert_array_equal(_run(path), X * 2 + 1)
        path.write_text(SCALED.format(7))
    assert len(_artefacts(kept)) == 2


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_any_way(kept: Path, path: Path, end: str):
    lines = ['#[version = "0.0.5"]', "def @main(%x: Tensor[(3), float32]) {", "  // twice", "  add(%x, %x)", "}", ""]
    path.write_bytes(end.join(lines).encode())
    np.testing.assert_array_equal(relay.compile_model(path)(X), X + X)


def test_a_program_that_does_not_compile_leaves_nothing(kept: Path, path: Path):
    path.write_text('#[version = "0.0.5"]\ndef @main(%x: Tensor[(3), float32]) { add(%x, %y) }')
    with pytest.raises(relay.RelayError):
        relay.compile_model(path)
    assert not list(kept.glob("**/*.*"))


def test_a_damaged_file_is_made_again(kept: Path, path: Path, caplog: pytest.LogCaptureFixture):
    _run(path)
    (artefact,) = _artefacts(kept)
    artefact.write_bytes(artefact.read_bytes()[:100])
    with caplog.at_level(logging.WARNING):
        np.testing.assert_array_equal(_run(path), X * 2 + 1)
    assert "is damaged" in caplog.text
    np.testing.assert_array_equal(_run(path), X * 2 + 1)


def test_a_changed_weight_of_what_was_kept_is_found(kept: Path, path: Path, caplog: pytest.LogCaptureFixture):
    """Whether or not the file was found whole before."""
    for age in (0, 1000):
        _run(path)
        (artefact,) = _artefacts(kept)
        os.utime(artefact, (age, age))
        _run(path)
        data = bytearray(artefact.read_bytes())
        data[4096 + 2] ^= 1  # the constants begin at 4096
        artefact.write_bytes(data)
        np.testing.assert_array_equal(_run(path), X * 2 + 1)
        assert "is damaged" in caplog.text


def test_under_a_context_nothing_is_kept(kept: Path, path: Path):
    with relay.PassContext(disabled_pass=["FoldConstant"]):
        _run(path)
    assert not _artefacts(kept)


def test_a_model_with_weights_in_other_files_is_not_kept(kept: Path, tmp_path: Path):
    onnx = pytest.importorskip("onnx")
    weight = onnx.numpy_helper.from_array(np.ones(64, np.float32), "w")
    node = onnx.helper.make_node("Add", ["x", "w"], ["y"])
    value = onnx.helper.make_tensor_value_info
    ends = [value(name, onnx.TensorProto.FLOAT, [64]) for name in "xy"]
    graph = onnx.helper.make_graph([node], "graph", ends[:1], ends[1:], [weight])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    onnx.save(model, tmp_path / "inside.onnx")
    onnx.save(model, tmp_path / "beside.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    x = np.zeros(64, np.float32)
    assert relay.compile_model((tmp_path / "inside.onnx").read_bytes())(x).sum() == 64
    assert len(_artefacts(kept)) == 1
    assert relay.compile_model(tmp_path / "beside.onnx")(x).sum() == 64
    (tmp_path / "w.bin").write_bytes(np.full(64, 2, np.float32).tobytes())
    assert relay.compile_model(tmp_path / "beside.onnx")(x).sum() == 128
    assert len(_artefacts(kept)) == 1


def test_a_new_process_needs_no_compiler(kept: Path, path: Path):
    _run(path)
    code = (
        "import sys, numpy as np, relay\n"
        f"f = relay.compile_model({str(path)!r}, params={{'w': np.full(3, 2, np.float32)}})\n"
        "print(f(np.arange(3, dtype='float32')).tolist())\n"
        "print(*(name for name in ('onnx', 'relay.transform', 'relay.ops', 'relay.lower') if name in sys.modules))"
    )
    settings = environment({"RELAY_CACHE_DIR": str(kept.parent)})
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=settings)
    assert done.stdout == "[1.0, 3.0, 5.0]\n\n"


def test_what_was_kept_can_be_exported(kept: Path, path: Path, tmp_path: Path):
    pytest.importorskip("ziglang")
    _run(path)
    assert _artefacts(kept)
    relay.compile_model(path, params={"w": np.full(3, 2, np.float32)}).export(tmp_path / "model.so")
    np.testing.assert_array_equal(relay.load(tmp_path / "model.so")(X), X * 2 + 1)


def test_a_file_that_shrinks_while_it_is_hashed_is_refused(tmp_path: Path):
    path = tmp_path / "shrinking.onnx"
    path.write_bytes(bytes(1 << 16))
    with compiling._content_seen(path) as content:
        whole = compiling._digest(content, threads=2)
        assert whole == compiling._digest(compiling._in_memory(bytes(1 << 16)), threads=1)
        os.truncate(path, 1 << 12)
        with pytest.raises(relay.RelayError, match="became shorter while it was read"):
            compiling._digest(content, threads=2)
