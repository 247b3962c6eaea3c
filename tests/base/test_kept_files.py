"""Folders of kept files: what is run from them is the user's own, and what was used last is kept longest."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from tests.driver.programs import WEIGHT, layer, rows

import relay
from relay.base.diagnostics import RelayError
from relay.base.kept_files import KeptFiles


@pytest.fixture
def kept(tmp_path: Path) -> KeptFiles:
    files = KeptFiles(tmp_path / "cache" / "kernels", ".o", 1 << 20)
    files.put("abcd", [b"code"])
    return files


def test_what_is_put_is_found(kept: KeptFiles):
    path = kept.find("abcd")
    assert path is not None
    assert path.read_bytes() == b"code"
    assert kept.find("abce") is None


@pytest.mark.parametrize("place", ["folder", "subfolder", "file"])
@pytest.mark.parametrize("mode", [0o002, 0o020])
def test_what_others_may_write_is_not_run(kept: KeptFiles, place: str, mode: int):
    path = {"folder": kept.folder, "subfolder": kept.path("abcd").parent, "file": kept.path("abcd")}[place]
    path.chmod(path.stat().st_mode | mode)
    with pytest.raises(RelayError, match="unsafe-cache") as caught:
        kept.find("abcd")
    assert (
        caught.value.remedy == f"chmod -R go-w {kept.folder}, if it is yours; else name another folder: RELAY_CACHE_DIR"
    )


def test_what_somebody_else_owns_is_not_run(kept: KeptFiles, monkeypatch: pytest.MonkeyPatch):
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")
    os.chown(kept.path("abcd"), 12345, 12345)
    with pytest.raises(RelayError, match=r"unsafe-cache.*\n.*\n.*owner 12345"):
        kept.find("abcd")


def test_a_folder_that_is_made_is_the_users_alone(kept: KeptFiles):
    assert kept.folder.stat().st_mode & 0o077 == 0
    assert kept.path("abcd").parent.stat().st_mode & 0o077 == 0


def test_a_build_says_what_is_wrong_with_its_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RELAY_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("RELAY_CACHE", raising=False)
    np.testing.assert_array_equal(relay.build(layer())(rows(1), WEIGHT).shape, (1, 3))
    (tmp_path / "kernels").chmod(0o777)
    with pytest.raises(RelayError, match="unsafe-cache"):
        relay.build(layer())


def test_what_was_used_last_is_kept(kept: KeptFiles):
    """Use is not a write: the time of the last write stays."""
    small = KeptFiles(kept.folder, kept.suffix, 9)  # 8 is less than the share that is left
    for age, key in enumerate(("abcd", "bbcd", "cbcd"), start=1):
        small.put(key, [b"code"])
        os.utime(small.path(key), (age, age))
    small.use("abcd")
    assert small.path("abcd").stat().st_mtime == 1
    small.trim()
    assert [key for key in ("abcd", "bbcd", "cbcd") if small.find(key)] == ["abcd", "cbcd"]


def test_files_are_counted_only_when_the_limit_may_be_passed(kept: KeptFiles, monkeypatch: pytest.MonkeyPatch):
    files = KeptFiles(kept.folder, kept.suffix, 100)
    counts: list[int] = []
    entries = KeptFiles._entries

    def counted(self: KeptFiles):
        counts.append(len(counts))
        return entries(self)

    monkeypatch.setattr(KeptFiles, "_entries", counted)
    for number in range(24):  # 240 bytes: counted at first, and whenever 100 were passed
        files.put(f"{number:04x}", [b"0123456789"])
        os.utime(files.path(f"{number:04x}"), (number, number))
        files.trim()
    assert len(counts) <= 1 + 24 // 2
    assert 80 <= sum(path.stat().st_size for path in kept.folder.glob("??/*")) <= 100
    assert files.find("0017") is not None
    for written in (b"", b"1\nno number\n"):
        (kept.folder / ".bytes").write_bytes(written)
        files.path("0017").write_bytes(b"x" * 1000)
        files.trim()
        assert files.find("0017") is None
    (kept.folder / ".bytes").unlink()
    files.put("0018", [b"0123456789"])
    assert not (kept.folder / ".bytes").exists()  # which knows of files that are not counted yet


def test_content_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    done: list[str] = []
    sync, rename = os.fsync, Path.replace
    monkeypatch.setattr(os, "fsync", lambda number: (done.append("sync"), sync(number)))
    monkeypatch.setattr(Path, "replace", lambda path, goal: (done.append("rename"), rename(path, goal)))
    relay.build(layer()).save(tmp_path / "layer.rlx")
    assert done[-2:] == ["sync", "rename"]
