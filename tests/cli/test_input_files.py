"""Inputs that are damaged: whatever the readers of their formats raise, a user gets one kind of error."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import relay
from relay.cli.input_files import read_inputs
from relay.runtime.artefact.manifest import EntrySpec

PIXELS = (np.arange(60) * 37 % 256).astype(np.uint8).reshape(4, 5, 3)


@pytest.fixture(scope="module")
def entry() -> EntrySpec:
    image = relay.var("image", shape=(1, 4, 5, 3), dtype="uint8")
    return relay.build(relay.Function([image], relay.add(image, image))).entry


def archive() -> bytes:
    written = io.BytesIO()
    np.savez_compressed(written, image=PIXELS[None])
    return written.getvalue()


def picture(kind: str) -> bytes:
    written = io.BytesIO()
    Image.fromarray(PIXELS).save(written, kind)
    return written.getvalue()


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def huge_picture() -> bytes:
    """A PNG that says it has 10^10 pixels."""
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


def huge_array() -> bytes:
    written = io.BytesIO()
    np.lib.format.write_array_header_1_0(written, {"descr": "|u1", "fortran_order": False, "shape": (1 << 60,)})
    return written.getvalue()


DAMAGED = {
    "cut.npz": archive()[:-30],
    "garbled.npz": archive()[:60] + b"\xff" * 20 + archive()[80:],
    "huge.npy": huge_array(),
    "head.npy": b"\x93NUMPY\x01\x00\x10\x00((((((((((((((((",
    "cut.png": picture("png")[:-40],
    "chunk.png": picture("png")[:40] + b"\x00" * 10 + picture("png")[50:],
    "huge.png": huge_picture(),
    "cut.jpg": picture("jpeg")[:100],
    "cut.bmp": picture("bmp")[:20],
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_inputs_are_refused(entry: EntrySpec, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(DAMAGED[name])
    with pytest.raises(relay.RelayError, match="cannot read the input"):
        read_inputs([f"image={tmp_path / name}"], entry)


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.png"])
def test_what_has_no_end_is_not_read(entry: EntrySpec, tmp_path: Path, name: str) -> None:
    (tmp_path / name).symlink_to("/dev/zero")
    with pytest.raises(relay.RelayError, match="cannot read the input"):
        read_inputs([f"image={tmp_path / name}"], entry)
