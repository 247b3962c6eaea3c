"""The formats of arrays, of trainings and of schedules."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
from PIL import Image

import relay
from relay.cli.input_files import read_inputs
from relay.te.schedule.records import ScheduleRecords
from relay.training.checkpoints import load_checkpoint, save_checkpoint
from relay.training.journal import read_journal
from relay.training.state import TrainingState
from tests.endurance.format import Format, called

X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
PIXELS = (np.arange(4 * 5 * 3) * 37 % 256).astype(np.uint8).reshape(4, 5, 3)
RECORDS = (
    {
        "kernel": "fn (%p0: Tensor[(3), float32]) { exp(%p0) }",
        "steps": ['split("exp", "i0", factor=2)'],
        "target": "llvm -mcpu=haswell",
        "seconds": 0.1,
    },
    {
        "kernel": "fn (%p0: Tensor[(n, 3), float32]) { nn.dense(%p0, %p0) }",
        "choice": {"family": "matmul", "width": 64, "rows": 6, "variants": [{"when": "n <= 4", "family": "matmul"}]},
    },
    {"convolution": "data 1x3x5x5", "choice": {"family": "convolution", "algorithm": "F(4, 3)", "layout": "NHWC"}},
)
STEPS = ({"step": 1, "epoch": 0, "loss": 0.5, "seconds": 0.01}, {"step": 2, "epoch": 0, "loss": None, "mean": [0.1, 2]})


def data_formats(folder: Path) -> tuple[Format, ...]:
    relay.save_params({"w": X, "b": X[0]}, folder / "params.safetensors")
    state = TrainingState({"w": X}, {"w.momentum": X}, {"count": np.asarray(3)}, {"w": X}, pending=2)
    save_checkpoint(folder / "state.safetensors", state, {"position": {"epoch": 1, "losses": [0.5]}})
    return (
        Format("params", (folder / "params.safetensors").read_bytes(), relay.load_params),
        Format(
            "parameter bytes",
            bytes(relay.save_param_dict({"w": X, "b": X[0]})),
            lambda path: relay.load_param_dict(path.read_bytes()),
        ),
        Format("checkpoint", (folder / "state.safetensors").read_bytes(), load_checkpoint),
        Format("journal", _lines(STEPS), read_journal),
        Format("schedule records", _lines(RECORDS), ScheduleRecords.load),
        *(_input(folder, f"input.{kind}", content) for kind, content in _inputs().items()),
    )


def _lines(records: tuple[object, ...]) -> bytes:
    return "".join(f"{json.dumps(each)}\n" for each in records).encode()


def _inputs() -> dict[str, bytes]:
    """Files of the same image, for `relay run --input`."""
    written = {kind: io.BytesIO() for kind in ("npy", "npz", "png", "jpg", "bmp", "webp")}
    np.save(written["npy"], PIXELS[None])
    np.savez_compressed(written["npz"], image=PIXELS[None])
    for kind in ("png", "jpeg", "bmp", "webp"):
        Image.fromarray(PIXELS).save(written["jpg" if kind == "jpeg" else kind], kind)
    return {kind: each.getvalue() for kind, each in written.items()}


def _input(folder: Path, name: str, content: bytes) -> Format:
    image = relay.var("image", shape=(1, 4, 5, 3), dtype="uint8")
    entry = relay.build(relay.Function([image], relay.add(image, image))).entry
    return Format(name, content, called(folder / name, lambda path: read_inputs([str(path)], entry)))
