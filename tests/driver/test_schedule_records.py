"""Schedules on record: they stand in for the compiler's choice, and what is wrong with one is said by its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relay
from relay.cli.main import main
from relay.driver.build import compile_stages
from relay.targets.cpu.host import resolve
from relay.te import ScheduleRecord, ScheduleRecords, parse_steps, print_steps
from relay.tir.text.printer import print_primfunc
from tests.messages import check_message

LAYER = """#[version = "0.0.5"]
def @main(%x: Tensor[(20, 48), float32], %w: Tensor[(48, 32), float32]) { nn.relu(nn.matmul(%x, %w)) }
"""

MACHINE = "llvm -mattr=+avx,+avx2,+fma"
"""What the records are for: the choice and the steps of it are the same wherever tests run."""

TARGET = str(resolve(relay.Target.parse("llvm -mtriple=x86_64-unknown-linux-gnu -mattr=+avx,+avx2,+fma")))


@pytest.fixture
def records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """What the compiler itself chooses for the layer, as the command prints it."""
    model, path = tmp_path / "layer.relay", tmp_path / "mine.jsonl"
    model.write_text(LAYER)
    assert main(["show", str(model), "--stage", "schedule", "--target", MACHINE]) == 0
    path.write_text(capsys.readouterr().out)
    return path


def _record(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text().splitlines()[-1])


def _changed(path: Path, **fields: object) -> None:
    """Other fields in the record; what it says about the schedule is one thing, its steps or its choice."""
    values = _record(path)
    for name in ("choice", "steps"):
        if fields.keys() & {"choice", "steps"}:
            values.pop(name, None)
    path.write_text(json.dumps(values | fields) + "\n")


def _loops(path: Path) -> str:
    with relay.PassContext(opt_level=3, schedules=ScheduleRecords.load(path)):
        stages = compile_stages(relay.parse(LAYER), MACHINE)
        return print_primfunc(stages.called_kernels[-1].loops())


def test_a_record_stands_in_for_the_choice(records: Path) -> None:
    chosen = _loops(records)
    with relay.PassContext(opt_level=3):
        stages = compile_stages(relay.parse(LAYER), MACHINE)
    assert chosen == print_primfunc(stages.called_kernels[-1].loops())
    _changed(records, steps=['split("relu", "i0", factor=5)'])
    assert _loops(records) != chosen
    x, w = (np.random.default_rng(0).standard_normal(shape, np.float32) for shape in ((20, 48), (48, 32)))
    with relay.PassContext(opt_level=3, schedules=ScheduleRecords.load(records)):
        found = relay.build(relay.parse(LAYER), MACHINE)(x, w)
    np.testing.assert_allclose(found, np.maximum(x @ w, 0), rtol=1e-5, atol=1e-5)


def test_a_choice_on_record_is_followed(records: Path) -> None:
    chosen, choice = _loops(records), _record(records)["choice"]
    assert choice["family"] == "matmul"
    _changed(records, choice=choice)
    assert _loops(records) == chosen
    _changed(records, choice={"family": "matmul", "rows": 3})
    other = _loops(records)
    assert other != chosen
    x, w = (np.random.default_rng(0).standard_normal(shape, np.float32) for shape in ((20, 48), (48, 32)))
    with relay.PassContext(opt_level=3, schedules=ScheduleRecords.load(records)):
        found = relay.build(relay.parse(LAYER), MACHINE)(x, w)
    np.testing.assert_allclose(found, np.maximum(x @ w, 0), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "choice"),
    [
        ("a_family_that_there_is_not", {"family": "matmull"}),
        ("a_family_for_other_kernels", {"family": "attention"}),
        ("a_field_that_a_family_has_not", {"family": "matmul", "row": 4}),
        ("a_value_that_is_not_possible", {"family": "matmul", "rows": 40}),
    ],
)
def test_a_choice_that_is_not_possible(name: str, choice: dict[str, object], records: Path) -> None:
    line = _record(records) | {"choice": choice, "target": TARGET}
    del line["steps"]
    records.write_text(json.dumps(line))
    _refused(records, name)


def test_steps_that_are_not_those_of_the_choice(records: Path) -> None:
    line = _record(records)
    line["choice"] = {"family": "matmul", "rows": 3}
    records.write_text(json.dumps(line | {"target": TARGET}))
    _refused(records, "steps_of_another_choice")


def _refused(records: Path, name: str) -> None:
    with relay.PassContext(schedules=ScheduleRecords.load(records)), pytest.raises(relay.RelayError) as error:
        relay.build(relay.parse(LAYER), TARGET)
    check_message("schedule_records", name, str(error.value).replace(str(records.parent), "FOLDER"))


def test_records_for_another_machine_are_left_alone(records: Path) -> None:
    chosen = _loops(records)
    _changed(records, steps=[], target="llvm -mcpu=haswell")
    assert _loops(records) == chosen
    _changed(records, target="")
    assert _loops(records) != chosen


def _warnings(path: Path, caplog: pytest.LogCaptureFixture, program: str = LAYER) -> str:
    caplog.clear()
    with relay.PassContext(opt_level=3, schedules=ScheduleRecords.load(path)):
        relay.build(relay.parse(program), MACHINE)
    return "\n".join(record.getMessage() for record in caplog.records).replace(str(path.parent), "FOLDER")


def test_a_record_that_fits_no_kernel_is_told_with_what_is_near(records: Path, caplog) -> None:
    _changed(records, target="")
    assert _warnings(records, caplog) == ""
    line = _record(records)
    other = json.dumps(line | {"kernel": line["kernel"].replace("20", "21")})
    records.write_text(f"{json.dumps(line)}\n{other}\n")
    check_message("schedule_records", "warning_with_what_is_near", _warnings(records, caplog))
    _changed(records, seconds=1e-6)
    check_message("schedule_records", "warning_where_none_fits", _warnings(records, caplog))
    records.write_text(f"{json.dumps(line)}\n{records.read_text()}")
    assert _warnings(records, caplog) == ""  # a tuner's record may be for another program
    records.write_text(json.dumps(line | {"target": "llvm -mcpu=haswell"}))
    assert "all 1 schedule records are for other machines, such as `llvm -mcpu=haswell`" in _warnings(records, caplog)


CONVOLUTION = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 8, 9, 9), float32], %w: Tensor[(16, 8, 3, 3), float32]) { nn.conv2d(%x, %w, padding=[1, 1]) }
"""


def _about(convolution: str, **values: object) -> dict[str, Any]:
    """A record about a convolution, for all machines."""
    return {"convolution": convolution, "choice": {"family": "convolution", **values}}


def test_a_convolution_record_that_fits_nothing_is_told_too(records: Path, caplog) -> None:
    text = "data 1x8x9x9, kernel 16x8x3x3, strides 1x1, padding 1x1x1x1, dilation 1x1, groups 1, float32"
    records.write_text(json.dumps(_about(text, width=16)))
    assert _warnings(records, caplog, CONVOLUTION) == ""
    assert "the program has no convolutions" in _warnings(records, caplog)
    records.write_text(json.dumps(_about(text.replace("1x8x9x9", "1x8x7x7"), width=16)))
    assert "which has `1x8x9x9, kernel" in _warnings(records, caplog, CONVOLUTION)


def test_the_fastest_record_counts_and_one_by_hand_before_it() -> None:
    def record(factor: int, seconds: float | None) -> ScheduleRecord:
        return ScheduleRecord("fn", parse_steps(f'split("c", "i", factor={factor})'), "", seconds)

    timed = [record(1, 3e-3), record(2, 1e-3), record(3, 2e-3)]
    target = relay.Target.parse("llvm")
    assert ScheduleRecords.of(timed).on(target).schedule("fn") == timed[1]
    by_hand = record(4, None)
    assert ScheduleRecords.of([by_hand, *timed]).on(target).schedule("fn") == by_hand
    assert ScheduleRecords.of(timed).on(target).schedule("other") is None
    assert ScheduleRecords.of(timed).on(target).convolution("fn") is None


def test_a_record_survives_its_file(tmp_path: Path) -> None:
    record = ScheduleRecord('fn (%p0: "é")', parse_steps('split("c", "i", factor=4)'), "llvm", 1.5e-5)
    (tmp_path / "one.jsonl").write_text(record.to_json() + "\n\n")
    (found,) = ScheduleRecords.load(tmp_path / "one.jsonl").best.values()
    assert found.to_json() == record.to_json()


def test_a_step_that_does_not_fit_is_the_records_fault(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _changed(records, steps=['split("relu", "nowhere", factor=5)'], target="")
    model = str(records.with_name("layer.relay"))
    assert main(["run", model, "--random", "--schedules", str(records)]) == 1
    check_message(
        "schedule_records", "a_step_that_does_not_fit", capsys.readouterr().err.replace(str(records.parent), "FOLDER")
    )


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("memory_that_only_loops_show", 'set_scope("matmul", "register")'),
        ("threads_of_another_machine", 'bind("relu", "i0", "threadIdx.x")'),
    ],
)
def test_what_shows_later_is_the_records_fault_too(name: str, step: str, records: Path) -> None:
    _changed(records, steps=[step], target="")
    with (
        relay.PassContext(opt_level=3, schedules=ScheduleRecords.load(records)),
        pytest.raises(relay.RelayError) as error,
    ):
        relay.build(relay.parse(LAYER))
    check_message("schedule_records", name, str(error.value).replace(str(records.parent), "FOLDER"))


@pytest.mark.parametrize("target", ["llvm -mattr=+avx,+avx2,+fma -num-threads=1", "llvm -mcpu=x86-64", "llvm"])
def test_vectors_longer_than_registers_with_masks_that_are_known(target: str) -> None:
    """LLVM cuts them up itself, and ends the process where it does so with a constant mask."""
    x = relay.var("x", shape=(3, 20))
    module = relay.IRModule.from_expr(relay.Function([x], relay.nn.pad(x, ((2, 2), (2, 2)))))
    (kernel,) = compile_stages(module, target).called_kernels
    steps = parse_steps('split("pad", "i1", parts=2)\nvectorize("pad", "i1.inner")')
    with relay.PassContext(schedules=ScheduleRecords.of([ScheduleRecord(kernel.text, steps)])):
        executable = relay.build(module, target)
    data = np.arange(60, dtype=np.float32).reshape(3, 20)
    np.testing.assert_array_equal(executable(data), np.pad(data, 2))


@pytest.mark.parametrize("columns", [9, 13, 17, 33])
def test_vectors_of_which_one_lane_is_left_over(columns: int) -> None:
    """More lanes than registers have, on a machine of 128 bits; each part of the result is masked."""
    parts = [relay.var(name, shape=(2, count)) for name, count in (("a", 1), ("b", columns - 3), ("c", 2))]
    module = relay.IRModule.from_expr(relay.Function(parts, relay.concatenate(parts, axis=1)))
    (kernel,) = compile_stages(module, "llvm -mcpu=x86-64").called_kernels
    records = ScheduleRecords.of([ScheduleRecord(kernel.text, parse_steps('vectorize("concatenate", "i1")'))])
    with relay.PassContext(schedules=records):
        executable = relay.build(module, "llvm -mcpu=x86-64")
    data = np.random.default_rng(0).standard_normal((2, columns)).astype(np.float32)
    given = (data[:, :1], data[:, 1:-2], data[:, -2:])
    np.testing.assert_array_equal(executable(*map(np.ascontiguousarray, given)), data)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("no_json", "split(1)"),
        ("a_list", "[]"),
        ("no_steps", '{"kernel": "fn"}'),
        ("a_step_that_is_none", '{"kernel": "fn", "steps": ["spilt(1)"]}'),
        ("steps_of_numbers", '{"kernel": "fn", "steps": [1]}'),
        ("a_choice_without_a_family", '{"kernel": "fn", "choice": {"rows": 3}}'),
        ("an_unknown_field", '{"kernel": "fn", "steps": [], "time": 1}'),
        ("a_convolution_of_another_family", '{"convolution": "data", "choice": {"family": "matmul"}}'),
        (
            "a_field_that_convolutions_have_not",
            '{"convolution": "data", "choice": {"family": "convolution", "rows": 3}}',
        ),
        ("a_convolution_with_steps", '{"convolution": "data", "choice": {"family": "convolution"}, "steps": []}'),
        ("variants_that_are_no_list", '{"kernel": "fn", "choice": {"family": "matmul", "variants": {}}}'),
        (
            "a_variant_without_a_condition",
            '{"kernel": "fn", "choice": {"family": "matmul", "variants": [{"family": "rows"}]}}',
        ),
        (
            "a_condition_that_is_none",
            '{"kernel": "fn", "choice": {"family": "matmul", "variants": [{"when": "n ~ 4", "family": "rows"}]}}',
        ),
    ],
)
def test_what_is_wrong_with_a_line(name: str, line: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text("\n" + line)
    with pytest.raises(relay.RelayError) as error:
        ScheduleRecords.load(path)
    check_message("schedule_records", name, str(error.value).replace(str(tmp_path), "FOLDER"))


def _convolution() -> relay.IRModule:
    x = relay.var("x", shape=(1, 64, 28, 28))
    kernel = relay.const(np.random.default_rng(0).standard_normal((128, 64, 3, 3)).astype(np.float32))
    return relay.IRModule.from_expr(relay.Function([x], relay.nn.conv2d(x, kernel, padding=1)))


def _records_of(model: Path, capsys: pytest.CaptureFixture[str], *more: str) -> list[dict[str, Any]]:
    assert main(["show", str(model), "--stage", "schedule", *more]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line[:1] == "{"]
    return [line for line in lines if "convolution" in line]


def test_a_record_decides_how_a_convolution_is_computed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, records = tmp_path / "conv.json", tmp_path / "mine.jsonl"
    model.write_text(relay.save_json(_convolution()))
    (chosen,) = _records_of(model, capsys)
    x = np.random.default_rng(1).standard_normal((1, 64, 28, 28)).astype(np.float32)
    expected = relay.build(_convolution(), opt_level=2)(x)
    for algorithm in ("plain sums", "F(2, 3)", "F(4, 3)"):
        other = chosen | {"choice": chosen["choice"] | {"algorithm": algorithm, "width": 16}}
        records.write_text(json.dumps(other))
        assert _records_of(model, capsys, "--schedules", str(records)) == [other]
        with relay.PassContext(opt_level=3, schedules=ScheduleRecords.load(records)):
            np.testing.assert_allclose(relay.build(_convolution())(x), expected, rtol=1e-4, atol=2e-3)


def test_a_block_that_the_target_has_no_tiles_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, records = tmp_path / "conv.json", tmp_path / "mine.jsonl"
    model.write_text(relay.save_json(_convolution()))
    (chosen,) = _records_of(model, capsys, "--target", "llvm -mattr=+avx,+avx2,+fma")
    records.write_text(json.dumps(_about(chosen["convolution"], width=7)))
    arguments = ["show", str(model), "--schedules", str(records), "--stage", "fused"]
    assert main([*arguments, "--target", "llvm -mattr=+avx,+avx2,+fma"]) == 1
    said = capsys.readouterr().err.replace(str(tmp_path), "FOLDER")
    check_message("schedule_records", "a_block_without_tiles", said)


def test_an_algorithm_that_there_is_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, records = tmp_path / "conv.json", tmp_path / "mine.jsonl"
    model.write_text(relay.save_json(_convolution()))
    (chosen,) = _records_of(model, capsys)
    records.write_text(json.dumps(_about(chosen["convolution"], algorithm="F(3, 3)")))
    assert main(["show", str(model), "--schedules", str(records), "--stage", "fused"]) == 1
    said = capsys.readouterr().err.replace(str(tmp_path), "FOLDER")
    check_message("schedule_records", "an_algorithm_that_there_is_not", said)


def test_a_record_decides_in_which_layout_a_convolution_is_computed(tmp_path: Path) -> None:
    text = "data 1x64x28x28, kernel 128x64x3x3, strides 1x1, padding 1x1x1x1, dilation 1x1, groups 1, float32"
    x = np.random.default_rng(1).standard_normal((1, 64, 28, 28)).astype(np.float32)
    expected = relay.build(_convolution(), opt_level=2)(x)
    path = tmp_path / "mine.jsonl"
    for layout in ("NCHW", "NHWC"):
        path.write_text(json.dumps(_about(text, layout=layout, algorithm="plain sums")))
        with relay.PassContext(opt_level=3, schedules=ScheduleRecords.load(path)):
            choices = [str(kernel.choice()) for kernel in compile_stages(_convolution()).called_kernels]
            np.testing.assert_allclose(relay.build(_convolution())(x), expected, rtol=1e-4, atol=2e-3)
        assert sum(f"layout = {layout}" in choice for choice in choices) == 1


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(relay.RelayError, match="cannot-read"):
        ScheduleRecords.load(tmp_path / "nothing.jsonl")


def test_a_record_serves_the_kernel_where_its_result_is_part_of_another(records: Path) -> None:
    _changed(records, steps=['split("relu", "i0", factor=5)'], target="")
    x, w, y = (relay.var(name, shape=shape) for name, shape in (("x", (20, 48)), ("w", (48, 32)), ("y", (20, 32))))
    body = relay.concatenate([relay.nn.relu(relay.nn.matmul(x, w)), relay.nn.softmax(y)], axis=1)
    with relay.PassContext(opt_level=3, schedules=ScheduleRecords.load(records)):
        stages = compile_stages(relay.Function([x, w, y], body))
        (kernel,) = (each for each in stages.called_kernels if "relu" in each.info.name)
        assert kernel.group().outputs[0].gap is not None
        assert print_steps(kernel.schedule()) == 'split("relu", "i0", factor=5)'
        found = relay.build(relay.Function([x, w, y], body))
    a, b, c = (np.random.default_rng(0).standard_normal(shape, np.float32) for shape in ((20, 48), (48, 32), (20, 32)))
    np.testing.assert_allclose(found(a, b, c)[:, :32], np.maximum(a @ b, 0), rtol=1e-5, atol=1e-5)


DENSE = """#[version = "0.0.5"]
def @main(%x: Tensor[(n, 48), float32], %w: Tensor[(48, 32), float32]) { nn.relu(nn.matmul(%x, %w)) }
"""


def _dense(path: Path, *variants: dict[str, object]) -> ScheduleRecords:
    """A record for the product of any number of rows, with variants for some."""
    with relay.PassContext(opt_level=3):
        kernel = compile_stages(relay.parse(DENSE), MACHINE).called_kernels[-1]
    choice = {"family": "matmul", "rows": 4, "variants": list(variants)}
    path.write_text(json.dumps({"kernel": kernel.text, "choice": choice}))
    return ScheduleRecords.load(path)


FEW_ROWS = {"when": "n <= 2", "family": "matmul", "width": 16, "rows": 1}


def test_variants_are_for_some_extents(tmp_path: Path) -> None:
    records = _dense(tmp_path / "mine.jsonl", {"when": "n == 5", "family": "matmul", "rows": 5}, FEW_ROWS)
    w = np.random.default_rng(0).standard_normal((48, 32), np.float32)
    with relay.PassContext(opt_level=3, schedules=records):
        stages = compile_stages(relay.parse(DENSE), MACHINE)
        loops = print_primfunc(stages.called_kernels[-1].loops())
        executable = relay.build(relay.parse(DENSE), MACHINE)
    assert loops.index("if holds(n == 5)") < loops.index("else") < loops.index("if holds(n <= 2)")
    for rows in (0, 1, 2, 3, 5, 23):
        x = np.random.default_rng(rows).standard_normal((rows, 48), np.float32)
        np.testing.assert_allclose(executable(x, w), np.maximum(x @ w, 0), rtol=1e-5, atol=1e-5)


def test_variants_are_shown_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, path = tmp_path / "dense.relay", tmp_path / "mine.jsonl"
    model.write_text(DENSE)
    _dense(path, FEW_ROWS)
    show = ["show", str(model), "--stage", "schedule", "--target", MACHINE, "--schedules"]
    assert main([*show, str(path)]) == 0
    shown = capsys.readouterr().out
    assert "\n#   rows = 4: not 6: given\n" in shown
    assert "\n#   where n <= 2: matmul: " in shown
    assert "\n#     width = 16: leaves the fewest lanes empty of 32\n#     rows = 1: not 6: given\n" in shown
    path.write_text(shown)
    assert main([*show, str(path)]) == 0
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        ("a_variant_of_no_extent", FEW_ROWS | {"when": "m <= 2"}),
        ("a_variant_that_is_not_possible", FEW_ROWS | {"rows": 40}),
    ],
)
def test_variants_that_do_not_fit(name: str, variant: dict[str, object], tmp_path: Path) -> None:
    records = _dense(tmp_path / "mine.jsonl", variant)
    with relay.PassContext(opt_level=3, schedules=records), pytest.raises(relay.RelayError) as error:
        relay.build(relay.parse(DENSE), MACHINE)
    check_message("schedule_records", name, str(error.value).replace(str(tmp_path), "FOLDER"))
