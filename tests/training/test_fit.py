"""Whole trainings: records, files, resumption to the same bits, early stopping, data of all kinds."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import relay
from relay import training
from tests.driver.processes import environment
from tests.training.networks import batches, perceptron

DATA = batches(6)


def accuracy(logits: Any, labels: Any) -> Any:
    return relay.mean(relay.cast(relay.equal(relay.argmax(logits, axis=-1), relay.cast(labels, "int32")), "float64"))


def compiled(**options: Any) -> training.TrainingStep:
    module, params, _ = perceptron()
    given = {"metrics": {"accuracy": accuracy}, **options}
    return training.compile_step((module, params), training.Adam(0.01), training.CrossEntropy(), **given)


STEP = compiled()


def same(one: training.TrainingState, other: training.TrainingState) -> None:
    for mine, theirs in zip((one.params, one.optimizer, one.progress, one.sums),
                            (other.params, other.optimizer, other.progress, other.sums), strict=True):  # fmt: skip
        assert list(mine) == list(theirs)
        for name, each in mine.items():
            np.testing.assert_array_equal(each, theirs[name])


def test_records_tell_each_step_and_epoch():
    trained = training.fit(STEP, DATA, epochs=2, measured_on=DATA[:2], quiet=True)
    steps = [each for each in trained.records if "epoch" not in each]
    epochs = [each for each in trained.records if "epoch" in each]
    assert [each["step"] for each in steps] == list(range(1, 13))
    assert [each["step"] for each in epochs] == [6, 12]
    assert epochs[0]["loss"] == pytest.approx(np.mean([each["loss"] for each in steps[:6]]))
    measured = [STEP.measure(trained.state, *each) for each in DATA[:2]]
    assert epochs[1]["measured loss"] == pytest.approx(np.mean([each.loss for each in measured]))
    assert epochs[1]["measured accuracy"] == pytest.approx(np.mean([each.metrics["accuracy"] for each in measured]))
    assert not trained.stopped_early


class Stopped(Exception):
    pass


def stopping_after(count: int):
    """The data, which break off in the middle of an epoch when so many batches were taken."""
    taken = 0

    def epoch(_: int):
        nonlocal taken
        for each in DATA:
            if taken == count:
                raise Stopped
            taken += 1
            yield each

    return epoch


@pytest.mark.parametrize("options", [{}, {"accumulated": 4}], ids=["each batch an update", "accumulated"])
def test_a_training_that_was_stopped_goes_on_to_the_same_bits(tmp_path: Path, options: dict[str, Any]):
    step = compiled(**options) if options else STEP
    files = {"checkpoint": tmp_path / "a.safetensors", "journal": tmp_path / "a.jsonl", "save_every": 5, "quiet": True}
    with pytest.raises(Stopped):
        training.fit(step, stopping_after(8), epochs=3, measured_on=DATA[:1], **files)
    assert training.load_checkpoint(files["checkpoint"]).notes["step"] == 6
    resumed = training.fit(step, DATA, epochs=3, measured_on=DATA[:1], **files)
    whole = training.fit(step, DATA, epochs=3, measured_on=DATA[:1], quiet=True)
    same(resumed.state, whole.state)
    without_time = [{name: value for name, value in each.items() if name != "seconds"} for each in resumed.records]
    assert without_time == [
        {name: value for name, value in each.items() if name != "seconds"} for each in whole.records
    ]
    assert training.read_journal(files["journal"]) == list(resumed.records)


def test_a_training_that_was_killed_goes_on(tmp_path: Path):
    files = {"checkpoint": tmp_path / "a.safetensors", "journal": tmp_path / "a.jsonl"}
    code = f"""
import os, signal
from tests.training.test_fit import DATA, STEP, training

def epoch(number):
    for at, each in enumerate(DATA):
        if (number, at) == (1, 3):
            os.kill(os.getpid(), signal.SIGKILL)
        yield each

training.fit(STEP, epoch, epochs=3, checkpoint={str(files["checkpoint"])!r}, journal={str(files["journal"])!r},
             save_every=2, quiet=True)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, cwd=Path(__file__).parents[2], env=environment({})
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL
    resumed = training.fit(STEP, DATA, epochs=3, quiet=True, **files)
    same(resumed.state, training.fit(STEP, DATA, epochs=3, quiet=True).state)
    assert [each["step"] for each in training.read_journal(files["journal"]) if "epoch" not in each] == [*range(1, 19)]


def test_a_training_that_is_stopped_within_an_epoch_does_no_batch_twice(tmp_path: Path):
    place = tmp_path / "a.safetensors"
    with pytest.raises(Stopped):
        training.fit(STEP, stopping_after(9), epochs=2, checkpoint=place, save_every=1, quiet=True)
    seen: list[int] = []

    def epoch(number: int):
        for at, each in enumerate(DATA):
            seen.append(6 * number + at)
            yield each

    resumed = training.fit(STEP, epoch, epochs=2, checkpoint=place, quiet=True)
    assert seen == [6, 7, 8, 9, 10, 11]  # the first three of them are passed over
    same(resumed.state, training.fit(STEP, DATA, epochs=2, quiet=True).state)


def test_a_random_key_is_part_of_a_checkpoint(tmp_path: Path):
    key, w = relay.var("key", shape=(10,), dtype="uint64"), relay.var("w", shape=(3,))
    x = relay.var("x", shape=(3,))
    model = relay.Function([w, x, key], relay.sum(w * x * relay.random.uniform(key, (3,))[1]))
    step = training.compile_step((model, {"w": np.zeros(3, np.float32)}), training.SGD(1.0), key="key")
    data = [np.full(3, each, np.float32) for each in (1, 2, 3, 4)]
    whole = training.fit(step, data, epochs=2, seed=4, quiet=True)
    place = tmp_path / "a.safetensors"
    training.fit(step, data, epochs=1, seed=4, checkpoint=place, quiet=True)
    same(training.fit(step, data, epochs=2, seed=9, checkpoint=place, quiet=True).state, whole.state)


def test_a_checkpoint_is_whole_or_not_there(tmp_path: Path):
    """A disk that is full: here, a process whose files may not grow beyond a few bytes."""
    place = tmp_path / "a.safetensors"
    state = STEP.init()
    training.save_checkpoint(place, state, {"step": 1})
    code = f"""
import resource, signal
from tests.training.test_fit import STEP, training, relay
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    training.save_checkpoint({str(place)!r}, STEP.init(), {{"step": 2}})
except relay.RelayError as error:
    print(error.rule)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2],
        env=environment({"RELAY_CACHE": "0"}),
    )  # fmt: skip
    assert done.stdout == "cannot-write\n"
    assert [each.name for each in tmp_path.iterdir()] == ["a.safetensors"]
    assert training.load_checkpoint(place).notes == {"step": 1}
    same(STEP.restore(training.load_checkpoint(place)), state)


def test_what_is_no_checkpoint_of_the_step_is_refused(tmp_path: Path):
    place = tmp_path / "a.safetensors"
    training.save_checkpoint(place, STEP.init())
    other = training.compile_step(perceptron()[:2], training.SGD(0.1), training.CrossEntropy())
    with pytest.raises(relay.RelayError, match="that of another step") as error:
        other.restore(training.load_checkpoint(place))
    assert error.value.rule == "bad-checkpoint"
    data = place.read_bytes()
    for damaged in (data[:100], b"", b"\0" * 40, data[:8] + b"x" + data[9:]):
        place.write_bytes(damaged)
        with pytest.raises(relay.RelayError) as error:
            training.load_checkpoint(place)
        assert error.value.rule == "bad-checkpoint"
    relay.save_params({"w": np.ones(3)}, place)
    with pytest.raises(relay.RelayError, match="its format is None"):
        training.load_checkpoint(place)


def test_training_stops_when_nothing_becomes_better():
    constant = training.compile_step(perceptron()[:2], training.SGD(0.0), training.CrossEntropy())
    trained = training.fit(constant, DATA, epochs=9, stopping=training.EarlyStopping(2), quiet=True)
    assert trained.stopped_early
    assert [each["epoch"] for each in trained.records if "epoch" in each] == [0, 1, 2]
    with pytest.raises(relay.RelayError, match="`hits` is not measured"):
        training.fit(constant, DATA, epochs=9, stopping=training.EarlyStopping(2, of="hits"), quiet=True)


def test_early_stopping_goes_on_from_a_checkpoint(tmp_path: Path):
    constant = training.compile_step(perceptron()[:2], training.SGD(0.0), training.CrossEntropy())
    options = {"stopping": training.EarlyStopping(3), "checkpoint": tmp_path / "a.safetensors", "quiet": True}
    training.fit(constant, DATA, epochs=2, **options)
    trained = training.fit(constant, DATA, epochs=9, **options)
    assert trained.stopped_early
    assert training.load_checkpoint(options["checkpoint"]).notes["epoch"] == 4


def test_loaders_of_pytorch_hand_over_their_tensors():
    x, labels = (torch.from_numpy(np.concatenate(each)) for each in zip(*DATA, strict=True))
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, labels), batch_size=5)
    same(
        training.fit(STEP, loader, epochs=2, quiet=True).state, training.fit(STEP, DATA, epochs=2, quiet=True).state
    )  # fmt: skip


def test_batches_by_name():
    by_name = [{"labels": labels, "x": x} for x, labels in DATA]
    same(
        training.fit(STEP, by_name, epochs=1, quiet=True).state, training.fit(STEP, DATA, epochs=1, quiet=True).state
    )  # fmt: skip


def test_batches_in_memory_are_a_function_of_seed_and_epoch():
    x, labels = (np.concatenate(each) for each in zip(*DATA, strict=True))
    cut = training.Batches(x, labels, size=8, seed=3)
    assert len(cut) == 4
    epochs = [np.concatenate([rows for rows, _ in cut(number)]) for number in (0, 0, 1)]
    np.testing.assert_array_equal(epochs[0], epochs[1])
    assert (epochs[0] != epochs[2]).any()
    np.testing.assert_array_equal(np.sort(epochs[0], axis=0), np.sort(x, axis=0))
    assert [len(rows) for rows, _ in training.Batches(x, labels, size=8, whole=True)(0)] == [8, 8, 8]
    plain = next(iter(training.Batches(x, labels, size=8, shuffle=False)(0)))
    assert np.shares_memory(plain[0], x)
    with pytest.raises(relay.RelayError, match="which all share"):
        training.Batches(x, labels[:3], size=8)


def test_an_epoch_without_batches_is_an_error():
    with pytest.raises(relay.RelayError, match="epoch 2 has no batches") as error:
        training.fit(STEP, iter(DATA), epochs=2, quiet=True)
    assert error.value.rule == "no-batches"


def test_curves_are_a_picture(tmp_path: Path):
    training.fit(STEP, DATA, epochs=2, measured_on=DATA[:1], curves=tmp_path / "curves.png", quiet=True)
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(relay.RelayError, match="nothing to draw"):
        training.draw_curves([], tmp_path / "none.png")
    with pytest.raises(relay.RelayError, match="cannot write"):
        training.draw_curves([{"step": 1, "loss": 1.0}], tmp_path / "none" / "none.png")


def test_a_journal_that_was_cut_off_is_read_as_far_as_it_goes(tmp_path: Path):
    place = tmp_path / "a.jsonl"
    place.write_text('{"step": 1, "loss": 2.0}\n{"step": 2, "lo')
    assert training.read_journal(place) == [{"step": 1, "loss": 2.0}]
    for text in ("[1]\n", "step\n", json.dumps({"loss": 1}) + "\n", "[" * 100_000 + "\n"):
        place.write_text(text)
        with pytest.raises(relay.RelayError, match="line 1 of") as error:
            training.read_journal(place)
        assert error.value.rule == "bad-journal"


@pytest.mark.parametrize(("package", "code"), [
    ("safetensors", "training.load_checkpoint(sys.argv[1])"),
    ("matplotlib", "training.draw_curves([{'step': 1, 'loss': 1.0}], 'a.png')"),
])  # fmt: skip
def test_a_missing_package_is_named_with_its_extra(tmp_path: Path, package: str, code: str):
    (tmp_path / "a.safetensors").write_bytes(b"")
    script = (
        f"import sys; sys.modules[{package!r}] = None\nimport relay\nfrom relay import training\n"
        f"try:\n    {code}\nexcept relay.RelayError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "a.safetensors")], capture_output=True, text=True, check=True,
        env=environment({}), cwd=tmp_path,
    )  # fmt: skip
    assert "error[missing-package]" in done.stdout
    assert 'pip install "relay-ir[' in done.stdout


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_how_far_it_is(monkeypatch: pytest.MonkeyPatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    training.fit(STEP, DATA, epochs=2)
    assert "epoch 2 of 2, loss 1." in terminal.getvalue()
    terminal.truncate(0)
    training.fit(STEP, DATA, epochs=1, quiet=True)
    assert terminal.getvalue() == ""
