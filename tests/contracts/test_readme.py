"""The README: its Python runs, its commands run, its links lead somewhere."""

from __future__ import annotations

import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from relay.cli.main import COMMANDS
from tests.driver.processes import environment
from tests.driver.programs import LAYER

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
WRITTEN_LATER = {"benchmarks/results"}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the README speaks of."""
    path = tmp_path_factory.mktemp("readme")
    script = ROOT / "examples" / "onnx_models.py"
    subprocess.run([sys.executable, script, "squeezenet", "-o", path / "model.onnx"], check=True, capture_output=True)
    (path / "layer.relay").write_text(LAYER)
    np.save(path / "x.npy", np.zeros((1, 3, 224, 224), np.float32))
    return path


def test_the_python_runs(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    (folder / "readme.py").write_text("\n\n".join(blocks("python")))  # a file: functions are read from their source
    runpy.run_path("readme.py")
    printed = capsys.readouterr().out
    assert '#[version = "0.0.5"]' in printed
    assert "error[" in printed


def test_the_commands_run(folder):
    lines = [line[2:] for block in blocks("console") for line in block.splitlines() if line.startswith("$ relay ")]
    assert {shlex.split(line)[1] for line in lines} == set(COMMANDS)
    for line in lines:
        words = shlex.split(line)[1:] + (["--seconds", "0.2"] if " bench " in line else [])
        done = subprocess.run(
            [sys.executable, "-m", "relay", *words],
            cwd=folder, env=environment({}), capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (line, done.stderr)


def test_the_targets_of_make_are_there():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^\$ make (\w+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_links_lead_somewhere():
    prose = re.sub(r"^```.*?^```$", "", README, flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)]+)\)", prose):
        assert link in WRITTEN_LATER or (ROOT / link).exists(), link
