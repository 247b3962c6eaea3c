"""Artefact files: whole, or refused with a reason."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from relay.base.diagnostics import RelayError
from relay.base.files import write_atomically
from relay.runtime.artefact import artefact as artefact_module
from relay.runtime.artefact import checksum as checksum_module
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


def _flip(path: Path, offset: int) -> None:
    """Change one bit of a file, in place."""
    with path.open("r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 1]))


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Path]:
    """Writes constants of several parts to a new file, with a folder in which files are remembered."""
    monkeypatch.setenv("RELAY_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("RELAY_CACHE", raising=False)
    content = np.random.default_rng(0).integers(0, 256, 1_234_567, dtype=np.uint8)
    paths = (tmp_path / f"large{number}" for number in count())

    def write() -> Path:
        path = next(paths)
        replace(artefact(), constants=content).save(path)
        return path

    return write


@pytest.fixture
def large(written: Callable[[], Path]) -> Path:
    """Such a file, of another machine's, that has been there for a while."""
    path = written()
    os.utime(path, (1000, 1000))
    return path


@pytest.mark.parametrize("place", [0, 7, 600_000, 1_200_000, 1_234_566])
def test_one_changed_bit_of_the_constants_is_refused(large: Path, place: int) -> None:
    Artefact.load(large)
    _flip(large, 4096 + place)
    with pytest.raises(RelayError, match="section `constants` has another checksum"):
        Artefact.load(large)


def test_pages_that_changed_places_are_refused(large: Path) -> None:
    data = bytearray(large.read_bytes())
    data[4096:8192], data[8192:12288] = data[8192:12288], data[4096:8192]
    large.write_bytes(data)
    with pytest.raises(RelayError, match="section `constants` has another checksum"):
        Artefact.load(large)


def test_constants_that_were_found_whole_are_not_read_again(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Artefact.load(large)
    monkeypatch.setattr(artefact_module, "file_checksum", None)
    Artefact.load(large)
    monkeypatch.setenv("RELAY_CACHE", "0")  # nothing is remembered
    with pytest.raises(TypeError):
        Artefact.load(large)


def test_a_file_that_was_just_written_is_not_remembered(large: Path) -> None:
    """The clock of a file system may stand still from one write to the next."""
    os.utime(large)
    state = large.stat()
    Artefact.load(large)
    _flip(large, 5000)
    os.utime(large, ns=(state.st_atime_ns, state.st_mtime_ns))
    with pytest.raises(RelayError, match="section `constants` has another checksum"):
        Artefact.load(large)


def test_constants_that_were_written_here_are_not_read_again(
    written: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written()
    monkeypatch.setattr(artefact_module, "file_checksum", None)
    Artefact.load(path)
    monkeypatch.setattr(checksum_module, "_start_of_machine", lambda: "the next")
    with pytest.raises(TypeError):
        Artefact.load(path)


def test_a_file_that_changes_right_after_it_was_written_is_refused(written: Callable[[], Path]) -> None:
    """Within one tick of the file system's clock, most times."""
    for _ in range(20):
        path = written()
        _flip(path, 5000)
        with pytest.raises(RelayError, match="section `constants` has another checksum"):
            Artefact.load(path)


def test_where_times_are_coarse_what_was_written_is_read(
    written: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    set_time = os.utime
    monkeypatch.setattr(os, "utime", lambda file, ns: set_time(file, ns=tuple(each // 10**9 * 10**9 for each in ns)))
    path = written()
    monkeypatch.setattr(artefact_module, "file_checksum", None)
    with pytest.raises(TypeError):
        Artefact.load(path)


@pytest.mark.parametrize(
    "content", [b"hello", b"RELAYAR3" + b"\xff" * 64, b"RELAYAR3" + b"\xff" * 5000, b"\x7fELF" + b"\0" * 100]
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
