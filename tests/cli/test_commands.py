"""The command line, as from a shell: what is written, what is printed, what the exit code says."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import relay
from relay.base.dtypes import DType
from relay.cli import doctor
from relay.cli.main import COMMANDS, main
from relay.driver import compilation
from relay.runtime.profile.roofline import MemoryLevel, Roofline
from relay.testing.measuring.peers import PEERS
from tests.driver.processes import environment, relay_command
from tests.driver.programs import LAYER, WEIGHT, layer, layer_result, rows
from tests.messages import check_message

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model in each format that is read, and arrays for it."""
    path = tmp_path_factory.mktemp("models")
    (path / "layer.relay").write_text(LAYER)
    (path / "layer.json").write_text(relay.save_json(layer()))
    relay.save_params({"w": WEIGHT}, path / "weights.safetensors")
    np.save(path / "x.npy", rows(5))
    np.save(path / "w.npy", WEIGHT)
    subprocess.run(
        [sys.executable, EXAMPLES / "onnx_models.py", "mlp", "-o", path / "mlp.onnx"], check=True, capture_output=True
    )
    os.mkfifo(path / "pipe.onnx")
    return path


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    return folder


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command, in this process."""
    try:
        code = main(words)
    except SystemExit as stop:
        code = int(stop.code or 0)
    printed = capsys.readouterr()
    return code, printed.out, printed.err


@pytest.mark.parametrize("suffix", ["rlx", "so"])
def test_compile_then_run(folder, tmp_path, suffix):
    """From a real shell's point of view: two processes, and a file between them."""
    model, output = tmp_path / f"layer.{suffix}", tmp_path / "y.npz"
    done = relay_command(
        "compile", folder / "layer.relay", "-o", model, "-O3", "--params", folder / "weights.safetensors"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{model}: 1 kernels, ")
    done = relay_command("run", model, "--input", f"x={folder / 'x.npy'}", "--output", output)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "output: float32[5, 3]\n")
    with np.load(output) as written:
        np.testing.assert_allclose(written["output"], layer_result(rows(5), WEIGHT), rtol=1e-5, atol=1e-6)
    header = tmp_path / "layer.h"
    assert header.exists() == (suffix == "so")


STEP = """#[version = "0.0.5"]
def @main(%w: (Tensor[(4), float32], Tensor[(2), float32]), %g: Tensor[(4), float32]) {
  (subtract(%w.0, %g), multiply(%w.1, 2f))
}"""


@pytest.mark.parametrize("suffix", ["rlx", "so"])
def test_compile_for_callers_that_give_arrays_away(capsys, tmp_path, suffix):
    (tmp_path / "step.relay").write_text(STEP)
    code, out, _ = run(capsys, "show", str(tmp_path / "step.relay"), "--stage", "program", "--donate", "w.1")
    assert code == 0
    assert "donating (1 as 1)" in out
    model = tmp_path / f"step.{suffix}"
    code, _, err = run(capsys, "compile", str(tmp_path / "step.relay"), "-o", str(model), "--donate", "w.0", "w.1")
    assert (code, err) == (0, "")
    given = [np.ones(extent, np.float32) for extent in (4, 2, 4)]
    result = relay.load(model)(*given)
    assert all(one is other for one, other in zip(result, given, strict=False))
    assert [each.tolist() for each in result] == [[0, 0, 0, 0], [2, 2]]


@pytest.mark.parametrize("model", ["layer.relay", "layer.json"])
def test_run_takes_sources_too(here, capsys, model):
    code, out, _ = run(capsys, "run", model, "--input", "x=x.npy", "--input", "w=w.npy", "--json")
    assert code == 0
    assert json.loads(out) == {"output": {"shape": [5, 3], "dtype": "float32"}}


def test_run_onnx_with_other_shapes(here, capsys):
    code, out, _ = run(capsys, "run", "mlp.onnx", "--shape", "x=4,784", "--random", "--json")
    assert code == 0
    ((_, described),) = json.loads(out).items()
    assert described == {"shape": [4, 10], "dtype": "float32"}


def test_a_symbol_for_an_extent(here, capsys, tmp_path):
    code, out, _ = run(capsys, "show", "mlp.onnx", "--shape", "x=rows,784")
    assert code == 0
    assert "Tensor[(rows, 784), float32]" in out


COMPLETED = {
    "relay sh": ["show"],
    "relay show --st": ["--stage"],
    "relay show m.relay --stage fu": ["fused", "fused-graph"],
    "relay bench m.onnx --against open": ["openvino"],
    "relay completions z": ["zsh"],
    "relay compile lay": ["layer.json", "layer.relay"],
}


@pytest.mark.parametrize("line", COMPLETED)
def test_completions(here, capsys, line):
    """As Bash asks for them: the words of the line, and which of them is being written."""
    code, script, _ = run(capsys, "completions", "bash")
    assert code == 0
    words = line.split()
    asks = f"COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _relay; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(["bash", "-c", f"{script}\n{asks}"], capture_output=True, text=True, check=True)
    assert sorted(done.stdout.split()) == COMPLETED[line]


def test_completions_for_zsh_are_those_for_bash(capsys):
    bash, zsh = (run(capsys, "completions", shell)[1] for shell in ("bash", "zsh"))
    assert zsh.startswith("#compdef relay\n")
    assert zsh.endswith(bash)


def test_show_draws_graphs(here, capsys, tmp_path):
    code, out, _ = run(capsys, "show", "layer.relay", "--stage", "graph")
    assert code == 0
    assert out.startswith("<svg ")
    for name, beginning in (("layer.svg", "<svg "), ("layer.html", "<!DOCTYPE html>")):
        code, out, err = run(capsys, "show", "layer.relay", "--stage", "fused-graph", "-o", str(tmp_path / name))
        assert (code, out, err) == (0, "", "")
        text = (tmp_path / name).read_text()
        assert text.startswith(beginning)
        assert 'class="fused"' in text
    code, _, err = run(capsys, "show", "layer.relay", "--stage", "graph", "-o", str(tmp_path / "layer.pdf"))
    assert code == 1
    assert "unknown-drawing" in err


def test_show_writes_texts(here, capsys, tmp_path):
    _, printed, _ = run(capsys, "show", "layer.relay", "--stage", "te")
    assert run(capsys, "show", "layer.relay", "--stage", "te", "-o", str(tmp_path / "layer.txt")) == (0, "", "")
    assert (tmp_path / "layer.txt").read_text() == printed


def test_run_prints_what_is_not_written(here, capsys):
    code, out, _ = run(capsys, "run", "layer.relay", "--random", "--seed", "3")
    assert code == 0
    assert out.startswith("output: float32[1, 3]\n[[")
    assert run(capsys, "run", "layer.relay", "--random", "--seed", "3")[1] == out
    assert run(capsys, "run", "layer.relay", "--random", "--seed", "4")[1] != out


def test_running_loads_no_compiler(here):
    """`relay run model.so` starts as fast as its runtime does."""
    relay.build(layer()).save("quick.rlx")
    code = (
        "import sys\nfrom relay.cli.main import main\n"
        "assert main(['run', 'quick.rlx', '--random']) == 0\n"
        "compiler = ('relay.driver', 'relay.te', 'relay.ops', 'relay.transform')\n"
        "loaded = [name for name in sys.modules if name.startswith(compiler)]\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=environment({}), capture_output=True)


STAGES = {
    "relay": "def @main(%x: Tensor[(n, 4), float32]",
    "fused": "Primitive=1",
    "te": "[i0 < n, i1 < 3] = sum[k < 4]",
    "tir": "primfunc",
    "llvm": "define void @fused_",
    "program": "entry main(x: Tensor[(n, 4), float32]",
    "asm": "retq",
}


@pytest.mark.parametrize("stage", STAGES)
def test_show_every_stage(here, capsys, stage):
    code, out, err = run(capsys, "show", "layer.relay", "--stage", stage)
    assert (code, err) == (0, "")
    assert STAGES[stage] in out
    code, described, _ = run(capsys, "show", "layer.relay", "--stage", stage, "--json")
    texts = json.loads(described)
    assert code == 0
    assert "\n\n".join(texts.values()) == out.removesuffix("\n")


def test_show_which_recursion_is_taken_together(here, capsys):
    Path("trees.relay").write_text(TREES)
    code, out, err = run(capsys, "show", "trees.relay", "--stage", "batching", "-O3")
    assert (code, err) == (0, "")
    assert out == (
        "@both runs level by level\n"
        "@down hands on to one call what depends on the result of another (trees.relay:12:21): "
        "its calls run one by one\n"
    )
    _, out, _ = run(capsys, "show", "trees.relay", "--stage", "batching", "-O3", "--function", "both")
    assert out == "@both runs level by level\n"
    _, out, _ = run(capsys, "show", "layer.relay", "--stage", "batching", "-O3")
    assert out == "no function is recursive\n"
    code, _, err = run(capsys, "show", "trees.relay", "--stage", "batching", "-O1")
    assert code == 1
    assert "no pass `AutoBatch` runs at level 1" in err


TREES = """#[version = "0.0.5"]
type T { Leaf(Tensor[(4), float32]), Node(T, T) }
def @both(%t: T, %w: Tensor[(4, 4), float32]) -> Tensor[(4), float32] {
  match (%t) {
    Leaf(%x) => tanh(%x),
    Node(%l, %r) => tanh(add(@both(%l, %w), @both(%r, %w)))
  }
}
def @down(%t: T, %state: Tensor[(4), float32]) -> Tensor[(4), float32] {
  match (%t) {
    Leaf(%x) => add(%x, %state),
    Node(%l, %r) => @down(%l, @down(%r, tanh(%state)))
  }
}
def @main(%t: T, %w: Tensor[(4, 4), float32], %s: Tensor[(4), float32]) { add(@both(%t, %w), @down(%t, %s)) }
"""


def test_show_where_kernels_run(here, capsys):
    code, out, _ = run(capsys, "show", "layer.relay", "--stage", "placement")
    assert code == 0
    assert all(re.fullmatch(r"fused_\w+: cpu", line) for line in out.splitlines())


def test_what_show_prints_parses_back(here, capsys):
    _, out, _ = run(capsys, "show", "layer.relay")
    assert relay.structural_equal(relay.parse(out), layer())


@pytest.mark.parametrize("function", ["main", "fused"])
def test_show_one_function(here, capsys, function):
    stage = "relay" if function == "main" else "tir"
    code, out, _ = run(capsys, "show", "layer.relay", "--stage", stage, "--function", function)
    assert code == 0
    assert out


@pytest.mark.parametrize("stage", ["relay", "fused", "program", "tir"])
def test_show_of_a_function_that_is_not_there(here, capsys, stage):
    code, out, err = run(capsys, "show", "layer.relay", "--stage", stage, "--function", "nowhere")
    assert (code, out) == (1, "")
    assert "expected: one of" in err


@pytest.mark.parametrize("level", range(5))
def test_every_level_compiles(here, capsys, tmp_path, level):
    code, out, _ = run(capsys, "compile", "layer.relay", "-o", str(tmp_path / "m.rlx"), f"-O{level}", "--json")
    assert code == 0
    result = json.loads(out)
    assert result["bytes"] == (tmp_path / "m.rlx").stat().st_size
    assert result["kernels"] >= 1
    assert {"infer types", "optimize", "lower", "generate code"} <= set(result["stages"])


def test_time_is_shown(here, capsys, tmp_path):
    _, out, _ = run(capsys, "compile", "mlp.onnx", "-o", str(tmp_path / "m.rlx"), "--time")
    for part in ("read model", "optimize", "-O3", "generate code", "look up in the cache", "kernels found"):
        assert part in out


def test_time_of_parts_in_json(here, capsys, tmp_path, monkeypatch):
    """Parts are no longer than what they are parts of, and all kernels of an empty cache are compiled."""
    monkeypatch.setenv("RELAY_CACHE_DIR", str(tmp_path / "cache"))
    _, out, _ = run(capsys, "compile", "mlp.onnx", "-o", str(tmp_path / "m.rlx"), "--json")
    result = json.loads(out)
    waiting = [result["parts"]]
    names = {}
    while waiting:
        part = waiting.pop()
        names[part["name"]] = part
        waiting += part["parts"]
        assert sum(each["seconds"] for each in part["parts"] if not each["beside"]) <= part["seconds"] + 1e-6
    assert names["emit text"]["count"] == result["kernels"]
    assert names["look up in the cache"]["note"] == f"0 of {result['kernels']} kernels found"
    assert any(part["beside"] for name, part in names.items() if name.startswith("LLVM"))


@pytest.fixture
def known_machine(monkeypatch):
    """Figures of a machine, so that none is measured."""
    roofline = Roofline(1, {DType.FLOAT32: 100e9}, (MemoryLevel("memory", 0, 10e9),))
    monkeypatch.setattr("relay.driver.roofline.kept_roofline", lambda threads: roofline)
    monkeypatch.setattr("relay.cli.profile.kept_roofline", lambda threads: roofline)


@pytest.mark.usefixtures("known_machine")
def test_profile(here, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "200")
    code, out, _ = run(capsys, "profile", "mlp.onnx", "--runs", "3", "--threads", "1", "--json")
    assert code == 0
    profile = json.loads(out)
    assert all(row["seconds"] > 0 and row["roofline_share"] > 0 for row in profile["kernels"])
    assert profile["arena"]["planned_bytes"] >= profile["arena"]["lower_bound_bytes"]
    page, trace = tmp_path / "p.html", tmp_path / "p.json"
    files = ("--html", str(page), "--trace", str(trace))
    code, out, _ = run(capsys, "profile", "mlp.onnx", "--runs", "1", "--arena", *files)
    assert code == 0
    assert all(row["kernel"] in out for row in profile["kernels"])
    for word in ("total", "control", "bytes alive at most", "100 GFLOP/s float32"):
        assert word in out
    assert "mlp.onnx" in page.read_text(encoding="utf-8")
    assert json.loads(trace.read_text())["traceEvents"]


@pytest.mark.usefixtures("known_machine")
def test_profile_of_an_artefact_at_an_extent(here, capsys, tmp_path):
    model = str(tmp_path / "m.rlx")
    run(capsys, "compile", "layer.relay", "-o", model)
    code, out, _ = run(capsys, "profile", model, "--extent", "n=7", "--runs", "2", "--json")
    assert code == 0
    assert sum(row["multiply_adds"] for row in json.loads(out)["kernels"]) == 7 * 3 * 4


def test_a_profile_says_what_is_decided_about_kernels(here, capsys):
    (here / "softmax.relay").write_text(
        '#[version = "0.0.5"]\ndef @main(%x: Tensor[(4, 8), float32]) { nn.softmax(%x) }\n'
    )
    code, out, _ = run(capsys, "profile", "softmax.relay", "--runs", "2", "--choices", "--target", "llvm -mcpu=x86-64")
    assert code == 0
    assert "rows: several reductions, or outputs apart\n  form = rows: a row stays in cache between sweeps" in out
    code, out, _ = run(capsys, "profile", "softmax.relay", "--runs", "2", "--choices", "--json")
    assert json.loads(out)["kernels"][0]["choice"].startswith("rows: ")
    assert run(capsys, "compile", "softmax.relay", "-o", "softmax.rlx")[0] == 0
    code, _, err = run(capsys, "profile", "softmax.rlx", "--choices")
    assert code == 1
    assert "error[no-choices]: softmax.rlx is compiled" in err


def test_schedules_are_printed_as_the_file_that_is_read(here, capsys):
    (here / "two.relay").write_text(
        '#[version = "0.0.5"]\n'
        "def @main(%x: Tensor[(4, 8), float32], %w: Tensor[(8, 8), float32]) {\n"
        "  nn.softmax(nn.dense(nn.dense(%x, %w, units=8), %w, units=8))\n}\n"
    )
    code, out, _ = run(capsys, "show", "two.relay", "--stage", "schedule")
    assert code == 0
    assert len([json.loads(line)["kernel"] for line in out.splitlines() if not line.startswith("#")]) == 2
    assert "# reduction: one reduction\n#   form = rows: the innermost axis is reduced, in lanes" in out
    assert "# rows: several reductions, or outputs apart\n#   form = rows: a row stays in cache between sweeps" in out


def test_bench(here, capsys):
    code, out, _ = run(
        capsys, "bench", "mlp.onnx", "--against", "onnxruntime", "--threads", "1", "--seconds", "0.2", "--json"
    )
    assert code == 0
    (row,) = json.loads(out)["rows"]
    assert row["threads"] == 1
    assert row["relay_ms"] > 0
    assert row["onnxruntime_ms"] > 0
    assert row["ratio_quartiles"][0] <= row["ratio"] <= row["ratio_quartiles"][1]


def test_a_profile_is_as_wide_as_it_is_asked_to_be(here, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    folded, wide = (run(capsys, "profile", "layer.relay", "--runs", "1", *more)[1] for more in ((), ("--wide",)))
    name = max((word for word in wide.split() if word.startswith("fused_")), key=len)
    assert name not in folded.split()
    assert max(map(len, folded.splitlines())) < max(map(len, wide.splitlines()))


def test_bench_alone_at_an_extent(here, capsys):
    code, out, _ = run(capsys, "bench", "layer.relay", "--extent", "n=7", "--seconds", "0.1", "--threads", "1,2")
    assert code == 0
    assert "relay ms (min)" in out


def test_bench_against_pytorch(here, capsys, tmp_path):
    torch = pytest.importorskip("torch")

    class Layer(torch.nn.Module):
        def forward(self, x, w):
            return torch.relu(x @ w.T)

    program = torch.export.export(Layer(), (torch.zeros(1, 4), torch.zeros(3, 4)))
    torch.export.save(program, str(tmp_path / "layer.pt2"))
    code, out, err = run(
        capsys, "bench", "layer.relay", "--against", "pytorch", "--peer-model", str(tmp_path / "layer.pt2"),
        "--threads", "1", "--seconds", "0.1", "--json",
    )  # fmt: skip
    assert code == 0, err
    assert json.loads(out)["rows"][0]["pytorch_ms"] > 0


MISTAKES = {
    "no-such-file": ["show", "none.relay"],
    "no-such-onnx": ["show", "none.onnx"],
    "device": ["bench", "/dev/zero"],
    "device-of-schedules": ["show", "layer.relay", "--schedules", "/dev/zero"],
    "folder": ["run", "/dev"],
    "pipe": ["compile", "pipe.onnx", "-o", "model.rlx"],
    "unknown-suffix": ["show", "model.pb"],
    "no-such-donation": ["compile", "layer.relay", "-o", "model.rlx", "--donate", "weights"],
    "unknown-output": ["compile", "layer.relay", "-o", "model.exe"],
    "no-such-folder": ["compile", "layer.relay", "-o", "no/such/folder/model.rlx"],
    "no-such-folder-for-library": ["compile", "layer.relay", "-o", "no/such/folder/model.so"],
    "bad-text": ["show", "bad.relay"],
    "bad-json": ["show", "bad.json"],
    "bad-onnx": ["show", "bad.onnx"],
    "bad-shape": ["show", "mlp.onnx", "--shape", "x"],
    "bad-extent-in-shape": ["show", "mlp.onnx", "--shape", "x=1,-4"],
    "shape-of-text": ["show", "layer.relay", "--shape", "x=1,4"],
    "bad-target": ["show", "layer.relay", "--target", "cuda", "--stage", "tir"],
    "no-params": ["show", "layer.relay", "--params", "none.safetensors"],
    "no-input": ["run", "layer.relay", "--input", "x=x.npy"],
    "input-without-name": ["run", "layer.relay", "--input", "x.npy"],
    "no-array": ["run", "layer.relay", "--input", "x=none.npy"],
    "pickled-array": ["run", "layer.relay", "--input", "x=pickled.npy"],
    "image-for-a-matrix": ["run", "layer.relay", "--input", "x=image.png"],
    "no-such-pass": ["show", "layer.relay", "--diff", "FoldConst"],
    "several-arrays": ["run", "layer.relay", "--input", "x=several.npz"],
    "run-damaged": ["run", "bad.rlx"],
    "bad-threads": ["bench", "layer.relay", "--threads", "two"],
    "profile-without-runs": ["profile", "layer.relay", "--runs", "0"],
    "profile-of-another-function": ["profile", "layer.relay", "--function", "helper"],
    "profile-unknown-extent": ["profile", "layer.relay", "--extent", "batch=4"],
    "bad-bench-extent": ["bench", "layer.relay", "--extent", "n"],
    "unknown-bench-extent": ["bench", "layer.relay", "--extent", "batch=4"],
    "pytorch-on-text": ["bench", "layer.relay", "--against", "pytorch"],
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_explained(here, capsys, name):
    """Exit code 1, a message on standard error, nothing on standard output, and nothing written."""
    (here / "bad.relay").write_text('#[version = "0.0.5"]\ndef @main(%x: Tensor[(3), float32]) {\n  nn.relu(%y)\n}\n')
    (here / "bad.json").write_text("{]")
    (here / "bad.onnx").write_bytes(b"\x08\x07\xff\xff")
    (here / "bad.rlx").write_bytes(b"RELAYART")
    np.save(here / "pickled.npy", np.array([{}], dtype=object), allow_pickle=True)
    np.savez(here / "several.npz", a=rows(1), b=rows(2))
    before = sorted(here.iterdir())
    code, out, err = run(capsys, *MISTAKES[name])
    assert (code, out) == (1, "")
    check_message("cli", name, err.removesuffix("\n"))
    assert sorted(here.iterdir()) == before


def test_a_mistake_is_json_too_when_that_is_asked_for(here, capsys):
    code, out, err = run(capsys, "show", "none.relay", "--json")
    assert code == 1
    assert json.loads(out)["error"]["rule"] == "cannot-read"
    assert err.startswith("error[cannot-read]: ")


USAGE = {
    "nothing": ([], ["COMMAND"]),
    "unknown-command": (["build", "m.onnx"], ["build", *COMMANDS]),
    "unknown-option": (["show", "m.relay", "--fast"], ["--fast"]),
    "unknown-stage": (["show", "m.relay", "--stage", "hlo"], ["--stage", "hlo", *STAGES]),
    "unknown-peer": (["bench", "m.relay", "--against", "tvm"], ["--against", *PEERS]),
    "unknown-level": (["show", "m.relay", "-O9"], ["-O", "0, 1, 2, 3, 4"]),
    "no-output": (["compile", "m.relay"], ["-o/--output"]),
    "no-model": (["run"], ["model"]),
}


@pytest.mark.parametrize("name", USAGE)
def test_wrong_usage_lists_what_may_be_said(capsys, name):
    words, said = USAGE[name]
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert err.startswith("usage: relay")
    message = err[err.index("error: ") :]
    assert all(word in message for word in said)


@pytest.mark.parametrize("command", COMMANDS)
def test_help(capsys, command):
    code, out, _ = run(capsys, command, "--help")
    assert code == 0
    assert out.startswith(f"usage: relay {command} ")
    assert COMMANDS[command] in run(capsys, "--help")[1]


def test_version(capsys):
    assert run(capsys, "--version") == (0, f"relay {relay.__version__}\n", "")


def test_a_bug_of_ours_is_told_from_a_mistake(here, capsys, monkeypatch):
    def broken(*_: object) -> None:
        raise KeyError("conv2d")

    monkeypatch.setattr(compilation, "optimization_pipeline", broken)
    code, out, err = run(capsys, "compile", "layer.relay", "-o", "m.rlx", "--json")
    assert code == 70
    assert json.loads(out)["bug"]["stage"] == "optimize"
    assert "compiler bug in optimize: KeyError: 'conv2d'" in err
    assert "This is a bug of relay" in err
    assert err.rstrip().endswith("relay compile layer.relay -o m.rlx --json")
    assert not (here / "m.rlx").exists()


def test_a_failure_leaves_the_old_output(here, capsys, tmp_path, monkeypatch):
    output = tmp_path / "m.rlx"
    output.write_bytes(b"old")
    monkeypatch.setattr(compilation, "lower_module", lambda *_: 1 / 0)
    assert run(capsys, "compile", "layer.relay", "-o", str(output))[0] == 70
    assert output.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["m.rlx"]


def test_an_interrupt_is_exit_code_130(here, tmp_path):
    """As Ctrl-C does: the signal comes while the process works, here while it waits for its input."""
    os.mkfifo(tmp_path / "x.npy")
    script = (  # a background job, such as this test may be part of, would otherwise ignore the signal
        "import signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from relay.cli.main import main\nsys.exit(main())\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, "run", "layer.relay", "--input", f"x={tmp_path / 'x.npy'}"],
        env=environment({}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        with (tmp_path / "x.npy").open("wb"):  # waits until the process reads
            process.send_signal(signal.SIGINT)
        # The end of the input wakes a process that got the signal between opening the file and reading it.
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "")


def test_a_reader_that_goes_away_is_no_error(here):
    process = subprocess.Popen(
        [sys.executable, "-m", "relay", "show", "layer.relay", "--stage", "asm"],
        env=environment({}), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) == 141


def test_progress_is_drawn_on_a_terminal_only(here, tmp_path):
    command = [sys.executable, "-m", "relay", "compile", "layer.relay", "-o", str(tmp_path / "m.rlx")]
    piped = subprocess.run(command, env=environment({"RELAY_CACHE": "0"}), capture_output=True, check=True)
    assert piped.stderr == b""
    ours, theirs = pty.openpty()
    terminal = environment({"RELAY_CACHE": "0", "TERM": "xterm-256color"})
    process = subprocess.Popen(command, env=terminal, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    process.communicate(timeout=60)
    drawn = b""
    try:
        while part := os.read(ours, 4096):
            drawn += part
    except OSError:  # how a terminal says that the other side is gone
        pass
    finally:
        os.close(ours)
    assert b"kernels" in drawn


def test_inputs_from_several_kinds_of_files(here, capsys):
    np.savez(here / "both.npz", x=rows(5), w=WEIGHT)
    expected = layer_result(rows(5), WEIGHT)
    for given in (["both.npz"], ["x=both.npz", "w=w.npy"]):
        words = [word for each in given for word in ("--input", each)]
        assert run(capsys, "run", "layer.relay", *words, "--output", "y.npz")[0] == 0
        with np.load(here / "y.npz") as written:
            np.testing.assert_allclose(written["output"], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shape", [(1, 3, 4, 8), (3, 4, 8), (1, 4, 8, 3), (4, 8, 3)])
@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_an_image_is_an_input(here, capsys, shape, dtype):
    """Red on the left and blue on the right, in the size and the order that the program wants."""
    pillow = pytest.importorskip("PIL.Image")
    pixels = np.zeros((8, 16, 3), np.uint8)
    pixels[:, :8, 0] = pixels[:, 8:, 2] = 255
    pillow.fromarray(pixels).save(here / "image.png")
    x = relay.var("x", shape=shape, dtype=dtype)
    (here / "image.relay").write_text(relay.astext(relay.IRModule.from_expr(relay.Function([x], x + x - x))))
    assert run(capsys, "run", "image.relay", "--input", "image.png", "--output", "y.npz")[0] == 0
    with np.load(here / "y.npz") as written:
        found = written["output"]
    assert (found.shape, found.dtype) == (shape, dtype)
    image = found.reshape(3, 4, 8).transpose(1, 2, 0) if shape[-1] != 3 else found.reshape(4, 8, 3)
    full = 255 if dtype == "uint8" else 1
    assert image[0, 0].tolist() == [full, 0, 0]
    assert image[3, 7].tolist() == [0, 0, full]


def test_what_a_pass_did(here, capsys):
    (here / "sum.relay").write_text('#[version = "0.0.5"]\ndef @main(%x: float32) { add(%x, add(1f, 2f)) }\n')
    code, out, _ = run(capsys, "show", "sum.relay", "--diff", "FoldConstant")
    assert code == 0
    assert "# run 1\n--- before\n+++ after\n" in out
    assert "\n-  %0 = add(1f, 2f); /* ty=float32 */\n" in out
    assert "\n+  add(%x, 3f) /* ty=float32 */\n" in out
    assert json.loads(run(capsys, "show", "sum.relay", "--diff", "FoldConstant", "--json")[1]).keys() >= {
        "FoldConstant 1"
    }


def test_the_doctor_tells_what_there_is(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("RELAY_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("RELAY_CACHE", raising=False)
    relay.build(layer())
    found = json.loads(run(capsys, "doctor", "--json")[1])
    assert found["relay"]["version"] == relay.__version__
    assert found["packages"]["numpy"] == np.__version__
    assert found["machine"]["processors"] == str(len(os.sched_getaffinity(0)))
    assert found["cache"]["folder"] == str(tmp_path)
    assert re.fullmatch(r"0\.\d MB in [1-9]\d* files", found["cache"]["kernels"])
    out = run(capsys, "doctor")[1]
    assert f"\n  numpy        {np.__version__}\n" in out
    monkeypatch.setenv("RELAY_CACHE", "0")
    assert "none: RELAY_CACHE=0" in run(capsys, "doctor")[1]


def test_the_doctor_says_how_to_have_what_is_missing(capsys, monkeypatch):
    monkeypatch.setattr(doctor, "PACKAGES", {"no-such-package": "extra"})
    assert 'no-such-package missing: pip install "relay-ir[extra]"' in run(capsys, "doctor")[1]


def test_compile_verifies(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "compile", "layer.relay", "-o", "verified.rlx", "--verify")
    assert code == 0
    table = out.splitlines()[1:]
    assert max(map(len, table)) <= 80
    assert table[0] == "verified on 2 sets of inputs (n = 3, seed 0; n = 37, seed 1)"
    assert any(line.startswith("program  the native program") for line in table)
    code, out, _ = run(capsys, "compile", "layer.relay", "-o", "verified.rlx", "--verify", "--json")
    assert {each["part"] for each in json.loads(out)["verification"]["comparisons"]} == {"pass", "kernel", "program"}
    assert (relay.load("verified.rlx")(rows(2), WEIGHT) >= 0).all()
