"""The cache on disk: two writers, damage, killed processes, limits."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from relay.base.diagnostics import RelayError
from relay.base.kept_files import KeptFiles
from relay.base.target import Target
from relay.targets.cpu.cache import DEFAULT_LIMIT_BYTES, KernelCache, cache_key

KEY = "ab" + "0" * 62


def cache_in(folder: Path, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> KernelCache:
    return KernelCache(KeptFiles(folder, ".o", limit_bytes))


def entry(cache: KernelCache) -> Path:
    (path,) = cache.files.folder.glob("??/*.o")
    return path


def test_what_is_put_is_got(tmp_path):
    cache = cache_in(tmp_path / "new" / "folder")
    assert cache.get(KEY) is None
    cache.put(KEY, b"object")
    assert cache.get(KEY) == b"object"


@pytest.mark.parametrize("damage", [b"", b"short", None, b"relay-object-1\n" + b"x" * 100])
def test_a_damaged_entry_is_said_removed_and_made_again(tmp_path, caplog, damage):
    cache = cache_in(tmp_path)
    cache.put(KEY, b"object" * 100)
    path = entry(cache)
    path.write_bytes(path.read_bytes()[:-1] if damage is None else damage)
    with caplog.at_level(logging.WARNING):
        assert cache.get(KEY) is None
    assert "is damaged" in caplog.text
    assert not path.exists()
    cache.put(KEY, b"object")
    assert cache.get(KEY) == b"object"


def test_the_least_recently_used_entries_go(tmp_path):
    cache = cache_in(tmp_path, limit_bytes=2500)
    keys = [f"{k:02x}" + "1" * 62 for k in range(4)]
    for age, key in enumerate(keys):
        cache.put(key, b"x" * 1000)
        os.utime(tmp_path / key[:2] / f"{key[2:]}.o", (1000 + age, 1000 + age))
    assert cache.get(keys[0])  # used now, so the second is the oldest
    cache.trim()
    assert [cache.get(key) is not None for key in keys] == [True, False, False, True]


def test_two_processes_write_and_one_is_killed(tmp_path):
    """Whoever reads sees a whole entry or none."""
    program = f"""
        from pathlib import Path
        from relay.base.kept_files import KeptFiles
        from relay.targets.cpu.cache import KernelCache
        cache = KernelCache(KeptFiles(Path({str(tmp_path)!r}), ".o", 1 << 30))
        print("started", flush=True)
        for round in range(100000):
            cache.put({KEY!r}, bytes([round % 256]) * 50000)
        """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    writers = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    for writer in writers:
        assert writer.stdout is not None
        writer.stdout.readline()
    cache, seen = cache_in(tmp_path), 0
    for step in range(200):
        image = cache.get(KEY)
        if image is not None:
            seen += 1
            assert len(image) == 50000
            assert len(set(image)) == 1
        if step == 100:
            writers[0].kill()
        time.sleep(0.001)
    for writer in writers:
        writer.kill()
        writer.wait()
        writer.stdout.close()
    assert seen > 10
    cache.put(KEY, b"after")
    assert cache.get(KEY) == b"after"
    cache_in(tmp_path, limit_bytes=0).trim()  # what a killed writer left goes too
    assert not list(tmp_path.glob("??/*"))


def test_a_cache_that_cannot_be_written_is_said_and_does_no_harm(tmp_path, caplog):
    blocker = tmp_path / "file"
    blocker.write_text("")
    cache = cache_in(blocker)
    with caplog.at_level(logging.WARNING):
        cache.put(KEY, b"object")
    assert "cannot keep a file" in caplog.text
    assert cache.get(KEY) is None


def test_the_key_depends_on_all_that_the_object_depends_on():
    native = Target.parse("llvm -mtriple=x86_64-unknown-linux-gnu -mattr=+avx2")
    other = Target.parse("llvm -mtriple=x86_64-unknown-linux-gnu -mattr=+avx")
    keys = {cache_key("a", native, 1), cache_key("b", native, 1), cache_key("a", other, 1), cache_key("a", native, 2)}
    assert len(keys) == 4


def test_settings(tmp_path):
    assert KernelCache.from_environment({"RELAY_CACHE": "0", "RELAY_CACHE_DIR": "/x"}) is None
    assert KernelCache.from_environment({"RELAY_CACHE_DIR": str(tmp_path), "RELAY_CACHE_BYTES": "10"}) == cache_in(
        tmp_path / "kernels", 10
    )
    assert KernelCache.from_environment({"XDG_CACHE_HOME": "/y"}).files.folder == Path("/y/relay/kernels")
    with pytest.raises(RelayError, match="RELAY_CACHE_BYTES is not a number"):
        KernelCache.from_environment({"RELAY_CACHE_BYTES": "much"})
