"""The formats that relay reads: a valid sample of each, its reader, and what must hold of what is read."""

from __future__ import annotations

import io
import shlex
import zipfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import torch
from examples.onnx_models import build as onnx_model

import relay
from relay.cli.main import COMPILER_BUG
from relay.cli.main import main as relay_command
from tests.endurance.compiled_formats import compiled_formats
from tests.endurance.data_formats import data_formats
from tests.endurance.format import Format, caches_in, called

PROGRAM = """#[version = "0.0.5"]
def @twice[A](%f: fn (A) -> A, %x: A) -> A { %f(%f(%x)) }
def @main(%x: Tensor[(3, 4), float32], %n: int64) -> Tensor[(3, 4), float32] {
  let %y = nn.softmax(nn.dense(%x, ones(shape=[4, 4], dtype="float32")), axis=-1);
  if (less(%n, 1i64)) { @twice(fn (%z: Tensor[(3, 4), float32]) { tanh(%z) }, %y) }
  else { @main(add(%y, 0.5f), subtract(%n, 1i64)) }
}
"""
COMMANDS = "run model.relay --random --json --extent n=2 --threads 1 --stage te --target 'llvm -mcpu=haswell' -O2"
GRAPH_OF_ARCHIVE = "exported/models/model.json"


def formats(folder: Path) -> tuple[Format, ...]:
    """All of them; `folder` holds the files that some need, and caches."""
    with caches_in(folder / "cache"):
        return (*_programs(folder), *compiled_formats(folder), *data_formats(folder), _commands(folder))


def _programs(folder: Path) -> tuple[Format, ...]:
    exported = folder / "exported.pt2"
    network = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.GELU())
    rows = torch.export.Dim("rows", min=2)
    torch.export.save(torch.export.export(network, (torch.ones(3, 4),), dynamic_shapes=({0: rows},)), exported)
    damaged = called(folder / "damaged.pt2", relay.frontend.from_pytorch)
    return (
        Format("text", PROGRAM.encode(), _read_text),
        Format("json", relay.save_json(relay.parse(PROGRAM)).encode(), _read_json),
        Format("onnx", onnx_model("mlp").SerializeToString(), lambda path: relay.frontend.from_onnx(path.read_bytes())),
        Format("exported program", exported.read_bytes(), damaged),
        _part_of_archive(exported, GRAPH_OF_ARCHIVE, folder / "damaged.pt2"),
    )


def _part_of_archive(whole: Path, part: str, damaged: Path) -> Format:
    """What stands in an archive: damage to that itself is found by its checksums."""
    with zipfile.ZipFile(whole) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}

    def read(path: Path) -> None:
        with zipfile.ZipFile(damaged, "w") as archive:
            for name, content in parts.items():
                archive.writestr(name, path.read_bytes() if name == part else content)
        relay.frontend.from_pytorch(damaged)

    return Format(f"exported program: {part}", parts[part], read)


def _text_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def _read_text(path: Path) -> None:
    module = relay.parse(_text_of(path))
    assert relay.structural_equal(relay.parse(module.astext()), module)


def _read_json(path: Path) -> None:
    module = relay.load_json(_text_of(path))
    assert relay.structural_equal(relay.load_json(relay.save_json(module)), module)


def _commands(folder: Path) -> Format:
    (folder / "model.relay").write_text(PROGRAM, encoding="utf-8")
    return Format("command line", COMMANDS.encode(), lambda path: _run_command(path, folder))


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
        with redirect_stdout(output), redirect_stderr(output), caches_in(folder / "cache"):
            code = relay_command(given)
    except SystemExit:  # of argparse, which has said why
        return
    assert code != COMPILER_BUG, output.getvalue()
