"""Artefact files: whole, or refused with a reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from relay.base.diagnostics import RelayError
from relay.base.files import write_atomically
from relay.runtime.artefact.artefact import Artefact, constants_room
from relay.runtime.executable import load
from tests.runtime.test_manifest import sample


def artefact() -> Artefact:
    return Artefact(sample(), b"support", (b"first", b"second" * 1000), np.arange(10_000, dtype=np.uint8))


def test_round_trip(tmp_path: Path) -> None:
    artefact().save(tmp_path / "a.rlx")
    read = Artefact.load(tmp_path / "a.rlx")
    assert read.objects == artefact().objects
    assert read.support == b"support"
    assert np.array_equal(read.constants, artefact().constants)
    assert read.constants.ctypes.data % 64 == 0


def test_two_saves_are_byte_for_byte_equal(tmp_path: Path) -> None:
    artefact().save(tmp_path / "a")
    artefact().save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("size", [0, 10_000])
def test_constants_packed_in_the_file_are_those_of_a_saved_artefact(tmp_path: Path, size: int) -> None:
    saved = replace(artefact(), constants=np.arange(size, dtype=np.uint8))
    saved.save(tmp_path / "saved")
    with (tmp_path / "packed").open("w+b") as file:
        room = constants_room(file, size)
        room[:] = saved.constants
        replace(saved, constants=room).complete(file)
    assert (tmp_path / "packed").read_bytes() == (tmp_path / "saved").read_bytes()


@pytest.mark.parametrize("size", [0, 5, 17, 200, 5000, 15_000])
def test_a_file_cut_short_is_refused(tmp_path: Path, size: int) -> None:
    artefact().save(tmp_path / "a")
    (tmp_path / "cut").write_bytes((tmp_path / "a").read_bytes()[:size])
    with pytest.raises(RelayError, match="bad-artefact"):
        load(tmp_path / "cut")


def test_a_changed_object_is_refused(tmp_path: Path) -> None:
    artefact().save(tmp_path / "a")
    data = bytearray((tmp_path / "a").read_bytes())
    data[data.index(b"secondsecond") + 3] ^= 1
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(RelayError, match="section `object1` has another checksum"):
        load(tmp_path / "a")


@pytest.mark.parametrize(
    "content", [b"hello", b"RELAYAR2" + b"\xff" * 64, b"RELAYAR2" + b"\xff" * 5000, b"\x7fELF" + b"\0" * 100]
)
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "other").write_bytes(content)
    with pytest.raises(RelayError, match="bad-artefact"):
        load(tmp_path / "other")


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(RelayError, match="cannot-read"):
        load(tmp_path / "none")


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "kept").write_bytes(b"old")
    with pytest.raises(TypeError):
        write_atomically(tmp_path / "kept", [b"begin", object()])  # type: ignore[list-item]
    assert (tmp_path / "kept").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_a_missing_folder_says_so(tmp_path: Path) -> None:
    with pytest.raises(RelayError, match="cannot-write"):
        artefact().save(tmp_path / "none" / "a")
