"""The benchmarks: the smallest rows of the suites run, are kept and compared; and what a comparison marks."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from benchmarks import commits, fresh, operator_programs, workloads
from benchmarks.__main__ import main
from benchmarks.changes import changes
from benchmarks.figures import Change, Failure, Figure, Quantity, best_figures, from_json, to_json

from relay.testing.measuring.peers import PEERS

PEER = ("--peers", "onnxruntime", "--threads", "1")

FIGURE = Figure(
    "conv", 1, "onnxruntime", 1.0, (0.9, 1.1), 1.0, 2.0, (1.9, 2.1), 1.8, 2.0, (1.9, 2.1), 1.8, 5, 1e-7, 100.0, 3.0
)  # fmt: skip
FAILURE = Failure("conv", 1, "jax", "RelayError: no")
CHANGE = Change("networks", "resnet50", "1 thread", 1.1, (1.0, 1.2), 1.1, (0.9, 1.1), 0.033, 0.03, "s", 5)
QUANTITY = Quantity("resnet50", "compile, cold", "relay", 2.0, "s", (1.9, 2.2))


@pytest.mark.parametrize(("suite", "name"), [
    ("operators", "layernorm_128x768"), ("operators", "sum_axis0"), ("networks", "gpt2_small"),
    ("networks", "encoder_s16"), ("memory", "resnet18_64"), ("startup", "encoder_s16"),
    ("narrow_products", "bytes_128x768x768"), ("sorting", "sort_1x1000"), ("batching", "lists_"),
    ("compile_time", "sharing chain"), ("levels", "resize_conv1x1_64"), ("symbolic", "mlp_batch_1"),
    ("pytorch", "mlp_256"), ("derivatives", "perceptrons_64x512"),
])  # fmt: skip
def test_a_suite_runs_and_its_figures_are_kept_and_compared(suite, name, tmp_path, capsys):
    kept = tmp_path / "kept.json"
    main([suite, "--quick", "--only", name, *PEER, "--output", str(kept)])
    assert name in capsys.readouterr().out
    records = from_json(kept.read_text())
    assert records
    assert not [each for each in records if isinstance(each, Failure)]
    assert all(each.relative_error < 1e-5 for each in records if isinstance(each, Figure))
    assert json.loads(kept.read_text())["machine"]["processors"] >= 1
    if suite != "memory":  # which has no peer
        assert (tmp_path / "kept.png").read_bytes().startswith(b"\x89PNG")
    main(["compare", str(kept), str(kept)])
    assert not {"better", "worse", "gone", "fails"} & set(capsys.readouterr().out.split())


def test_precision_is_timed_against_float32_and_tells_the_error(tmp_path, capsys):
    kept = tmp_path / "kept.json"
    main(
        ["precision", "--quick", "--only", "gpt2_small", "--threads", "1", "--peers", "pytorch", "--output", str(kept)]
    )
    assert "gpt2_small" in capsys.readouterr().out
    ours, theirs = from_json(kept.read_text())
    assert (ours.peer, theirs.peer) == ("relay-float32", "pytorch")
    assert 1e-5 < ours.relative_error < 0.05
    assert theirs.relative_error < 0.05


def test_what_is_run_in_part_is_not_kept_among_the_results(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.__main__.RESULTS", tmp_path)
    main(["memory", "--quick", "--only", "encoder_s16"])
    assert not list(tmp_path.iterdir())


def test_a_commit_is_compared_with_this_tree(tmp_path, capsys):
    kept = tmp_path / "kept.json"
    chosen = ("--suites", "operators", "--only", "gemm_256", "encoder_s16", "--threads", "1")
    main(["commits", "HEAD", *chosen, "--quick", "--output", str(kept)])
    (change,) = from_json(kept.read_text())
    assert (change.suite, change.workload, change.quantity, change.rounds) in {
        ("operators", "gemm_256", "1 thread", rounds) for rounds in (3, 6)
    }
    assert change.old > 0
    assert change.new > 0
    assert "geometric mean" in capsys.readouterr().out
    assert (tmp_path / "kept.png").read_bytes().startswith(b"\x89PNG")


def test_a_row_that_a_commit_cannot_run_is_recorded(tmp_path, monkeypatch):
    run = fresh.run

    def refused(*words, environment):
        if environment["PYTHONPATH"] == str(fresh.ROOT / "src"):
            return run(*words, environment=environment)
        raise RuntimeError("TypeError: build() got an unexpected keyword argument 'donate'")

    monkeypatch.setattr("benchmarks.fresh.run", refused)
    kept = tmp_path / "kept.json"
    main(["commits", "HEAD", "--only", "rows_1024", "--threads", "1", "--quick", "--output", str(kept)])
    (failure,) = from_json(kept.read_text())
    assert (failure.workload, failure.peer) == ("rows_1024", "HEAD")
    assert failure.failure.endswith("unexpected keyword argument 'donate'")


def test_a_commit_that_git_does_not_know_is_said_so(tmp_path):
    with pytest.raises(SystemExit, match="git archive nowhere: fatal"):
        main(["commits", "nowhere", "--quick", "--output", str(tmp_path / "kept.json")])


@pytest.mark.parametrize(("ratio", "of_old", "is_loss"), [
    (0.98, (1.0, 1.0), False),  # a little
    (0.95, (0.94, 1.02), False),  # less than the old one differs from itself
    (0.95, (0.96, 1.02), True),
])  # fmt: skip
def test_a_loss_is_more_than_a_little_and_than_noise(ratio, of_old, is_loss):
    assert replace(CHANGE, ratio=ratio, of_old=of_old).is_loss == is_loss


def test_a_row_that_seems_to_lose_is_measured_again_with_twice_the_rounds(tmp_path):
    taken = []

    def run(side):
        taken.append(side.name)
        yield Quantity("row", "1 thread", side.name, 2.0 if side.name == "new" and len(taken) <= 6 else 1.0, "s")

    row = commits.Row("operators", "row", lambda _: run, 2)
    sides = (commits.Side(name, tmp_path, tmp_path / name) for name in ("old", "new"))
    (change,) = commits.compared(row, *sides, tmp_path)
    assert (change.ratio, change.rounds, len(taken)) == (1.0, 4, 6 + 12)


@pytest.mark.parametrize("suite", ["memory", "ablation"])
def test_what_was_found_before_something_breaks_is_kept(suite, tmp_path, monkeypatch, capsys):
    row = {
        "model": "one", "variant": "-O3", "same_code": False, "ms": 1.0, "min_ms": 1.0, "times_as_long": 1.0,
        "quartiles": [1.0, 1.0], "kernels": 1, "workspace_bytes": 0, "compile_s": 0.1,
    }  # fmt: skip

    def measure(options):
        yield row if suite == "ablation" else QUANTITY
        raise ArithmeticError("the second row breaks")

    monkeypatch.setattr(f"benchmarks.{suite}.measure", measure)
    with pytest.raises(ArithmeticError, match="the second row breaks"):
        main([suite, "--output", str(tmp_path / "kept.json")])
    kept = json.loads((tmp_path / "kept.partial.json").read_text())
    assert len(kept["figures"]) == 1
    assert not (tmp_path / "kept.json").exists()


def test_who_fails_or_gives_something_else_is_recorded(monkeypatch, capsys):
    def refuses(*_):
        raise NotImplementedError("no such operator\nat length")

    broken = {"openvino": refuses, "torch-compile": lambda *_: lambda: [np.zeros(3)]}
    workload = replace(operator_programs.OPERATORS["layernorm_128x768"](), natural=broken)
    options = type("", (), {"threads": [1], "peers": ["onnxruntime", *broken], "seconds": 0.1, "rounds": 2})
    records = list(workloads.measure_workloads({"norm": lambda: workload}, options))
    failures = {each.peer: each.failure for each in records if isinstance(each, Failure)}
    assert failures == {
        "openvino": "NotImplementedError: no such operator",
        "torch-compile": "its result is another one: relative error inf",
    }  # fmt: skip
    assert [each.peer for each in records if isinstance(each, Figure)] == ["onnxruntime"]


def test_a_model_that_we_cannot_compile_is_recorded(capsys):
    workload = workloads.Workload(b"no model", {})
    options = type("", (), {"threads": [1, 2], "peers": ["onnxruntime"], "seconds": 0.1, "rounds": 2})
    records = workloads.measure_workloads({"broken": lambda: workload}, options)
    assert [(each.threads, each.peer) for each in records] == [(1, "relay"), (2, "relay")]


def test_records_survive_json():
    records = [FIGURE, FAILURE, QUANTITY, CHANGE]
    assert from_json(to_json({}, records)) == records
    with pytest.raises(ValueError, match="form 1, not 2"):
        from_json('{"machine": {}, "figures": []}')


def test_the_best_peer_is_the_fastest():
    slower = replace(FIGURE, peer="pytorch", peer_ms=3.0, ratio=1.5)
    assert best_figures([slower, FIGURE, FAILURE]) == {("conv", 1): FIGURE}


@pytest.mark.parametrize(("now", "mark"), [
    (replace(FIGURE, ratio=1.05), ""),
    (replace(FIGURE, ratio=1.3, quartiles=(1.2, 1.4)), "better"),
    (replace(FIGURE, ratio=0.7, quartiles=(0.6, 0.8)), "worse"),
    (replace(FIGURE, threads=2), "new"),
    (replace(QUANTITY, value=2.1), ""),
    (replace(QUANTITY, value=1.0, quartiles=(0.9, 1.1)), "better"),
    (replace(QUANTITY, value=3.0, quartiles=(2.9, 3.1)), "worse"),
    (Failure("conv", 1, "relay", "CompilerBug: broken"), "fails"),
])  # fmt: skip
def test_a_change_is_marked_where_the_spreads_do_not_meet(now, mark):
    rows = changes([FIGURE, FAILURE, QUANTITY], [now])
    marks = [row[-1] for row in rows if row[0] != "geometric mean" and row[-1] != "gone"]
    assert marks == [mark]


def test_what_is_gone_is_said():
    assert ("conv, 1 T", "", "", "", "", "gone") in changes([FIGURE], [])


def test_every_peer_is_a_choice(capsys):
    with pytest.raises(SystemExit):
        main(["operators", "--peers", "tvm"])
    said = capsys.readouterr().err
    assert all(peer in said for peer in PEERS)
