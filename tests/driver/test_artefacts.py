"""Artefacts: kept, opened in processes that know no compiler, refused when damaged, equal when made twice."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import struct
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import relay
from relay.runtime.artefact.artefact import MAGIC, Artefact
from tests.driver.processes import environment, python
from tests.driver.programs import WEIGHT, layer, layer_result, rows

RUN_ALONE = """
import sys, numpy as np
import relay
executable = relay.load(sys.argv[1])
print(executable(np.ones((2, 4), np.float32)).tolist())
compiler = ("transform", "te", "tir", "targets", "ops", "ir", "infer", "text", "lower", "driver", "frontend", "testing")
loaded = {name.split(".")[1] for name in sys.modules if name.startswith("relay.")}
assert not loaded.intersection(compiler), loaded
assert "importlib.metadata" not in sys.modules, "no device is wanted, and looking for one takes milliseconds"
"""


@pytest.fixture(scope="module")
def artefact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("artefact") / "layer.rlx"
    relay.build(layer(), params={"w": WEIGHT}).save(path)
    return path


@pytest.mark.parametrize("suffix", [".rlx", ".so"])
def test_a_process_that_runs_it_loads_no_compiler_and_looks_for_no_devices(artefact, tmp_path, suffix):
    path = artefact
    if suffix == ".so":
        path = tmp_path / "layer.so"
        relay.build(layer(), params={"w": WEIGHT}).export(path)
    printed = json.loads(python(RUN_ALONE, path))
    np.testing.assert_allclose(printed, layer_result(np.ones((2, 4), np.float32), WEIGHT), rtol=1e-5)


def test_what_was_loaded_can_be_saved_again(artefact, tmp_path):
    loaded = relay.load(artefact)
    loaded.save(tmp_path / "again.rlx")
    assert (tmp_path / "again.rlx").read_bytes() == artefact.read_bytes()


def test_saving_over_the_file_that_is_in_use(artefact, tmp_path):
    path = tmp_path / "layer.rlx"
    path.write_bytes(artefact.read_bytes())
    loaded = relay.load(path)
    loaded.save(path)
    x = rows(3)
    np.testing.assert_allclose(loaded(x), layer_result(x, WEIGHT), rtol=1e-5, atol=1e-6)


def test_an_artefact_outlives_its_file(artefact, tmp_path):
    path = tmp_path / "layer.rlx"
    path.write_bytes(artefact.read_bytes())
    loaded = relay.load(path)
    path.unlink()
    assert loaded(rows(1)).shape == (1, 3)


@pytest.mark.parametrize("keep", [0, 7, 12, 100, 3000, 5000, 0.5, 0.9, 0.9999])
def test_a_file_cut_short_is_refused(artefact, tmp_path, keep):
    data = artefact.read_bytes()
    cut = tmp_path / "cut.rlx"
    cut.write_bytes(data[: int(keep * len(data)) if isinstance(keep, float) else keep])
    with pytest.raises(relay.RelayError, match="bad-artefact"):
        relay.load(cut)


def test_damage_anywhere_but_in_the_constants_is_seen(artefact, tmp_path):
    """Constants are mapped and not read, so they are not looked at; padding does not matter."""
    data = artefact.read_bytes()
    sections = _table(data)["sections"]
    source = random.Random(0)
    damaged = tmp_path / "damaged.rlx"
    start, size = struct.unpack("<QQ", data[8:24])
    places = [*range(24), *(start + source.randrange(size) for _ in range(40))]
    for section in sections:
        if section["name"] != "constants":
            places += [section["offset"] + source.randrange(section["size"]) for _ in range(8)]
    for place in places:
        changed = bytearray(data)
        changed[place] ^= 1 << source.randrange(8)
        damaged.write_bytes(changed)
        with suppress(relay.RelayError):  # a digit of the provenance of nothing: some changes of the table mean nothing
            Artefact.load(damaged)
    for section in sections:
        if section["name"] != "constants" and section["size"]:
            changed = bytearray(data)
            changed[section["offset"] + section["size"] // 2] ^= 0x10
            damaged.write_bytes(changed)
            with pytest.raises(relay.RelayError, match="another checksum"):
                relay.load(damaged)


HOSTILE_TABLES = [
    {"sections": [{"name": "manifest", "offset": 1e400, "size": 1, "sha256": ""}]},
    {"sections": [{"name": "manifest", "offset": -4096, "size": 1, "sha256": ""}]},
    {"sections": [{"name": "manifest", "offset": 4096, "size": 2**63, "sha256": ""}]},
    {"sections": [{"name": "constants", "offset": 4096, "size": -1, "sha256": ""}]},
    {"sections": {"a": 1}},
    {"sections": [[]]},
    {"sections": 3},
    [],
    {},
]


@pytest.mark.parametrize("table", HOSTILE_TABLES, ids=str)
def test_hostile_tables_are_refused(tmp_path, table):
    text = json.dumps(table).encode()
    (tmp_path / "hostile.rlx").write_bytes(_head(9000, len(text)).ljust(9000, b"\0") + text)
    with pytest.raises(relay.RelayError, match="bad-artefact"):
        relay.load(tmp_path / "hostile.rlx")


@pytest.mark.parametrize(("start", "size"), [(2**64 - 1, 1), (9000, 2**64 - 1), (9001, 9000), (0, 0), (2**63, 0)])
def test_hostile_places_of_the_table_are_refused(tmp_path, start, size):
    (tmp_path / "hostile.rlx").write_bytes(_head(start, size).ljust(9010, b"\0"))
    with pytest.raises(relay.RelayError, match="bad-artefact"):
        relay.load(tmp_path / "hostile.rlx")


HOSTILE_MANIFESTS = [
    lambda m: m.update(format=99),
    lambda m: m.update(entries=[]),
    lambda m: m.update(entries=[{}]),
    lambda m: m["machine"].update(processor="pdp11"),
    lambda m: m.update(machine="x86_64"),
    lambda m: m["entries"][0].update(result=7),
    lambda m: m["entries"][0].update(name="other"),
    lambda m: m["entries"][0].update(symbols=[]),
    lambda m: m["entries"][0].update(workspace_bytes=["//", 1, 0]),
    lambda m: m["entries"][0].update(workspace_bytes=["+"]),
    lambda m: m["entries"][0].update(workspace_bytes=-1),
    lambda m: m["entries"][0]["outputs"][0].update(shape=[-1, 3]),
    lambda m: m["entries"][0]["inputs"][0].update(shape=["n", 4.5]),
    lambda m: m["entries"][0]["inputs"][0].update(shape=[4, 4]),
    lambda m: m["entries"][0]["inputs"][0].update(dtype="object"),
]


@pytest.mark.parametrize("change", range(len(HOSTILE_MANIFESTS)))
def test_hostile_manifests_are_refused(artefact, tmp_path, change):
    """With right checksums. Whatever such a file says of itself, it is an error of the user's when it is used."""
    data = artefact.read_bytes()
    (section,) = (each for each in _table(data)["sections"] if each["name"] == "manifest")
    manifest = json.loads(data[section["offset"] : section["offset"] + section["size"]])
    HOSTILE_MANIFESTS[change](manifest)
    path = tmp_path / "hostile.rlx"
    path.write_bytes(_with_manifest(data, json.dumps(manifest).encode()))
    with pytest.raises(relay.RelayError):
        relay.load(path)(rows(2))


def _head(start: int, size: int) -> bytes:
    return MAGIC + struct.pack("<QQ", start, size)


def _table(data: bytes) -> dict:
    start, size = struct.unpack("<QQ", data[8:24])
    return json.loads(data[start : start + size])


def _with_manifest(data: bytes, manifest: bytes) -> bytes:
    """The artefact with another manifest, put at its end."""
    table = _table(data)
    offset = -(-len(data) // 4096) * 4096
    for section in table["sections"]:
        if section["name"] == "manifest":
            section.update(offset=offset, size=len(manifest), sha256=hashlib.sha256(manifest).hexdigest())
    text = json.dumps(table).encode()
    head = _head(offset + len(manifest), len(text))
    return head + data[len(head) :].ljust(offset - len(head), b"\0") + manifest + text


MAKE = """
import sys
import relay
module, params = relay.testing.squeezenet.get_workload(image_shape=(3, 64, 64), num_classes=10)
executable = relay.build(module, params=params, opt_level=3)
executable.save(sys.argv[1] + ".rlx")
executable.export(sys.argv[1] + ".so")
"""


def test_two_compilations_are_byte_for_byte_equal(tmp_path):
    """In two processes that hash differently; one compiles everything afresh, the other fills a cache."""
    python(MAKE, tmp_path / "model", RELAY_CACHE="0", PYTHONHASHSEED="1")
    first = {suffix: (tmp_path / f"model{suffix}").read_bytes() for suffix in (".rlx", ".so", ".h")}
    python(MAKE, tmp_path / "model", RELAY_CACHE_DIR=str(tmp_path / "cache"), PYTHONHASHSEED="2")
    for suffix, data in first.items():
        assert (tmp_path / f"model{suffix}").read_bytes() == data, suffix


MANY_KERNELS = """
import sys
import numpy as np
import relay
x = relay.var("x", shape=(n := 40,))
parts = [relay.exp(relay.strided_slice(x, begin=[0], end=[k])) for k in range(1, n + 1)]
executable = relay.build(relay.Function([x], relay.Tuple(parts)))
executable.save(sys.argv[1])
given = np.linspace(-1, 1, n, dtype=np.float32)
for k, part in enumerate(executable(given), start=1):
    np.testing.assert_allclose(part, np.exp(given[:k]), rtol=1e-5)
"""


def test_a_compilation_that_is_killed_leaves_a_usable_cache(tmp_path):
    """Killed at several moments; then the same cache serves the next, and nothing half-written is there."""
    cache, output = tmp_path / "cache", tmp_path / "model.rlx"
    settings = {"RELAY_CACHE_DIR": str(cache), "RELAY_TEST_MARK": str(tmp_path)}
    for wait_s in (0.3, 0.6, 0.9, 1.2):
        process = subprocess.Popen(
            [sys.executable, "-c", MANY_KERNELS, str(output)], env=environment(settings), stderr=subprocess.DEVNULL
        )
        time.sleep(wait_s)
        process.send_signal(signal.SIGKILL)
        process.wait()
        if output.exists():
            Artefact.load(output)
    _wait_for_end_of_workers(str(tmp_path))
    python(MANY_KERNELS, output, **settings)
    python(MANY_KERNELS, output, **settings)  # once more, now from the cache alone
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".rlx"] == ["model.rlx"]


def _wait_for_end_of_workers(mark: str) -> None:
    """The compile workers of a process that was killed end by themselves."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if not any(_has_mark(path, mark) for path in Path("/proc").glob("[0-9]*/environ")):
            return
        time.sleep(0.05)
    raise AssertionError("a compile worker is still running")


def _has_mark(path: Path, mark: str) -> bool:
    try:
        return f"RELAY_TEST_MARK={mark}\0".encode() in path.read_bytes() + b"\0"
    except OSError:
        return False


SAVE_FOREVER = """
import sys
import numpy as np
import relay
w = relay.const(np.full((512, 1024), float(sys.argv[2]), np.float32))
x = relay.var("x", shape=(1024,))
executable = relay.build(relay.Function([x], relay.sum(x * w)))
print("ready", flush=True)
while True:
    executable.save(sys.argv[1])
"""


def test_a_save_that_is_killed_leaves_the_old_file_or_the_new(tmp_path):
    path = tmp_path / "model.rlx"
    for round_ in range(3):
        with subprocess.Popen(
            [sys.executable, "-c", SAVE_FOREVER, str(path), str(round_)], stdout=subprocess.PIPE, env=environment({})
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            time.sleep(0.05 + 0.013 * round_)
            process.kill()
        if path.exists():
            assert float(relay.load(path)(np.ones(1024, np.float32))) in {512 * 1024.0 * k for k in range(round_ + 1)}


def test_two_processes_share_a_cache(tmp_path):
    settings = {"RELAY_CACHE_DIR": str(tmp_path / "cache")}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", MANY_KERNELS, str(tmp_path / f"{number}.rlx")],
            env=environment(settings), stderr=subprocess.PIPE,
        )
        for number in range(2)
    ]  # fmt: skip
    for process in processes:
        _, stderr = process.communicate(timeout=120)
        assert process.returncode == 0, stderr.decode()
    assert (tmp_path / "0.rlx").read_bytes() == (tmp_path / "1.rlx").read_bytes()


def test_a_forked_child_runs_what_its_parent_loaded(artefact):
    """`multiprocessing` and data loaders fork; the child's pool of threads is its own."""
    code = (
        "import os, sys, numpy as np, relay\n"
        "executable = relay.load(sys.argv[1])\n"
        "x = np.ones((4000, 4), np.float32)\n"
        "expected = executable(x)\n"
        "child = os.fork()\n"
        "same = all(np.array_equal(executable(x), expected) for _ in range(50))\n"
        "if child == 0: os._exit(0 if same else 3)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), same)\n"
    )
    assert python(code, artefact) == "0 True\n"


def test_permissions_are_those_of_any_new_file(artefact, tmp_path):
    old = os.umask(0o027)
    try:
        relay.load(artefact).save(tmp_path / "new.rlx")
    finally:
        os.umask(old)
    assert (tmp_path / "new.rlx").stat().st_mode & 0o777 == 0o640
