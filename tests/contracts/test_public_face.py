"""`import relay`: cheap, and everything is where users of Relay look for it."""

from __future__ import annotations

import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import relay
from tests.driver.processes import environment

ROOT = Path(__file__).resolve().parents[2]


def test_import_relay_loads_nothing_yet():
    """Names load when they are first used, so that `import relay` costs nothing (`benchmarks startup` has the time)."""
    code = "import sys, numpy; before = set(sys.modules); import relay; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment({}))
    assert {name.partition(".")[0] for name in done.stdout.split()} <= {"relay", "__future__"}
    assert len(done.stdout.split()) <= 5


def test_compiling_loads_nothing_that_only_terminals_need():
    code = "import sys, relay; relay.build, relay.compile_model, relay.frontend; sys.exit('rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    "name", ["nn", "op", "image", "frontend", "testing", "transform", "analysis", "te", "tir", "ir"]
)
def test_modules(name):
    """As an attribute and as an import, in a process that has loaded nothing yet."""
    code = (
        f"import relay; a = relay.{name}; from relay import {name} as b; import relay.{name} as c; assert a is b is c"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=environment({}))
    assert importlib.import_module(f"relay.{name}").__doc__


def test_every_name_that_dir_lists_is_there():
    names = dir(relay)
    assert {"build", "load", "parse", "var", "Function", "nn", "structural_equal", "add"} <= set(names)
    for name in names:
        assert getattr(relay, name) is not None


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="module 'relay' has no attribute 'konv2d'"):
        _ = relay.konv2d


def test_a_module_knows_its_text():
    x = relay.var("x", shape=("n", 4))
    module = relay.IRModule.from_expr(relay.Function([x], relay.nn.relu(x)))
    assert module.astext() == relay.astext(module)
    assert relay.structural_equal(relay.parse(module.astext()), module)
    assert relay.structural_hash(relay.parse(module.astext())) == relay.structural_hash(module)


@pytest.mark.parametrize(("package", "code", "extra"), [
    ("onnx", "relay.frontend.from_onnx('model.onnx')", "relay-ir[onnx]"),
    ("torch", "relay.frontend.from_pytorch('model.pt2')", "relay-ir[torch]"),
    ("torch", "relay.compile('model.pt2')", "relay-ir[torch]"),
    ("torch", "relay.dynamo.register()", "relay-ir[torch]"),
    ("safetensors", "relay.load_params('weights.safetensors')", "relay-ir[params]"),
    ("safetensors", "relay.save_params({}, 'weights.safetensors')", "relay-ir[params]"),
])  # fmt: skip
def test_a_missing_package_is_named_with_its_extra(tmp_path, package, code, extra):
    script = (
        f"import sys; sys.modules[{package!r}] = None\n"
        f"import relay\ntry:\n    {code}\nexcept relay.RelayError as error:\n    print(error)\n"
    )
    (tmp_path / "model.onnx").write_bytes(b"")
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment({}), cwd=tmp_path
    )
    assert "error[missing-package]" in done.stdout
    assert extra in done.stdout


def test_the_command_of_the_package_is_there():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, _, function = project["scripts"]["relay"].partition(":")
    assert callable(getattr(importlib.import_module(module), function))
    assert project["version"] == relay.__version__
