"""The formats that relay reads: a valid sample of each, its reader, and what must hold of what is read."""

from __future__ import annotations

import io
import json
import shlex
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
from examples.onnx_models import build as onnx_model

import relay
from relay.base.frozen import frozen
from relay.cli.main import COMPILER_BUG
from relay.cli.main import main as relay_command
from relay.te.schedule.records import ScheduleRecords

X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
PROGRAM = """#[version = "0.0.5"]
def @twice[A](%f: fn (A) -> A, %x: A) -> A { %f(%f(%x)) }
def @main(%x: Tensor[(3, 4), float32], %n: int64) -> Tensor[(3, 4), float32] {
  let %y = nn.softmax(nn.dense(%x, ones(shape=[4, 4], dtype="float32")), axis=-1);
  if (less(%n, 1i64)) { @twice(fn (%z: Tensor[(3, 4), float32]) { tanh(%z) }, %y) }
  else { @main(add(%y, 0.5f), subtract(%n, 1i64)) }
}
"""
RECORD = {
    "kernel": "fn (%p0: Tensor[(3), float32]) { exp(%p0) }",
    "steps": ['split("exp", "i0", factor=2)'],
    "target": "llvm -mcpu=haswell",
    "seconds": 0.1,
}
COMMANDS = "run model.relay --random --json --extent n=2 --threads 1 --stage te --target 'llvm -mcpu=haswell' -O2"


@frozen(eq=False)
class Format:
    """`content` is valid: `read` takes it from a file. It raises `RelayError` for what it refuses, and AssertionError
    where it reads what it should not."""

    name: str
    content: bytes
    read: Callable[[Path], object]


def formats(folder: Path) -> tuple[Format, ...]:
    """All of them; `folder` holds the files that some need."""
    x = relay.var("x", shape=(3, 4))
    layer = relay.Function([x], relay.nn.softmax(relay.exp(x) + relay.const(X)))
    executable = relay.build(layer)
    executable.save(folder / "layer.rlx")
    graph = relay.create_executor("graph", layer).evaluate()
    graph.export(folder / "graph")
    expected = executable(X)
    relay.save_params({"w": X, "b": X[0]}, folder / "params.safetensors")
    (folder / "model.relay").write_text(PROGRAM, encoding="utf-8")

    def same(result: object) -> None:
        np.testing.assert_array_equal(np.asarray(result), expected)

    def graph_part(name: str) -> Format:
        whole = {each.name: each.read_bytes() for each in (folder / "graph").iterdir()}

        def read(path: Path) -> None:
            damaged = folder / "damaged"
            damaged.mkdir(exist_ok=True)
            for each, content in whole.items():
                (damaged / each).write_bytes(path.read_bytes() if each == name else content)
            same(relay.GraphExecutor.load(damaged)(X))

        return Format(f"graph folder: {name}", whole[name], read)

    return (
        Format("text", PROGRAM.encode(), _read_text),
        Format("json", relay.save_json(relay.parse(PROGRAM)).encode(), _read_json),
        Format("onnx", onnx_model("mlp").SerializeToString(), lambda path: relay.frontend.from_onnx(path.read_bytes())),
        Format("artefact", (folder / "layer.rlx").read_bytes(), lambda path: same(relay.load(path)(X))),
        Format("params", (folder / "params.safetensors").read_bytes(), relay.load_params),
        Format("schedule records", json.dumps(RECORD).encode(), ScheduleRecords.load),
        *map(graph_part, ("graph.json", "lib.rlx", "params.bin")),
        Format("command line", COMMANDS.encode(), lambda path: _run_command(path, folder)),
    )


def _text_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def _read_text(path: Path) -> None:
    module = relay.parse(_text_of(path))
    assert relay.structural_equal(relay.parse(module.astext()), module)


def _read_json(path: Path) -> None:
    module = relay.load_json(_text_of(path))
    assert relay.structural_equal(relay.load_json(relay.save_json(module)), module)


def _run_command(path: Path, folder: Path) -> None:
    """Words that name no other file than the model, and no output."""
    try:
        words = shlex.split(_text_of(path))
    except ValueError:
        return
    given = [str(folder / word) if word == "model.relay" else word.replace("/", "") for word in words]
    if any(word.startswith(("-o", "--o")) for word in given):
        return
    output = io.StringIO()
    try:
        with redirect_stdout(output), redirect_stderr(output):
            code = relay_command(given)
    except SystemExit:  # of argparse, which has said why
        return
    assert code != COMPILER_BUG, output.getvalue()
