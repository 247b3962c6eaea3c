"""Whole models on the toy GPU of `examples/targets/`, which is outside of the package."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

import relay
from relay.base.diagnostics import RelayError
from relay.driver.build import compile_stages
from relay.te import Choice, ScheduleRecord
from relay.transform import AnnotateTarget, MergeCompilerRegions, PartitionGraph, Sequential, refusals
from tests.messages import check_message
from tests.targets.strangers.programs import cnn, kept, lstm, lstm_in_data, mlp, normal


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[object]:
    """The simulator, registered as its package would be by entry points."""
    monkeypatch.syspath_prepend(str(request.config.rootpath / "examples" / "targets" / "toy_gpu"))
    toy_gpu = importlib.import_module("toy_gpu")
    opened = toy_gpu.open_device(0)
    relay.register_target(toy_gpu.KIND)
    relay.register_device("toy_gpu", lambda _: opened, replace=True)
    yield opened
    relay.unregister_target("toy_gpu")


@pytest.mark.parametrize(
    ("program", "inputs"),
    [(mlp, (normal(8, 16, seed=11),)), (cnn, (normal(1, 3, 8, 8, seed=12),))],
    ids=["mlp", "cnn"],
)
def test_a_whole_model_runs_on_the_device(device, program, inputs):
    stages = compile_stages(program(), "toy_gpu")
    assert [each.refusals for each in stages.called_kernels] == [], "nothing is left to the host"
    built = relay.build(program(), target="toy_gpu")
    expected = relay.build(program())(*inputs)
    for _ in range(3):
        np.testing.assert_allclose(built(*inputs), expected, rtol=1e-4, atol=1e-6)
    assert device.launches


def test_recursion_is_the_hosts_and_its_regions_the_devices(device):
    program = lstm(batch=1, size=4)
    inputs = np.int32(3), normal(1, 4, seed=13), normal(16, 8, seed=14)
    built = relay.build(program, target="toy_gpu")
    np.testing.assert_allclose(built(*inputs), relay.build(program)(*inputs), rtol=1e-4, atol=1e-6)
    steps = len(device.launches)
    built(np.int32(6), *inputs[1:])
    assert len(device.launches) - steps > steps


def test_a_profile_has_a_row_for_each_region(device):
    profile = relay.build(mlp(), target="toy_gpu").profile(normal(8, 16, seed=11), runs=2)
    (region,) = profile.device_regions
    assert region.name.startswith("region_fused_nn_dense")
    assert (region.device, region.calls, region.bytes_in) == ("toy_gpu:0", 1, 8 * 16 * 4)
    assert [f"{each} on toy_gpu:0" for each in region.launched] == [
        each.name for each in profile.kernels if each.name.startswith("fused")
    ]
    assert region.name in str(profile).replace("\n", "").replace(" ", "")


@pytest.mark.parametrize(
    ("program", "inputs", "uploads"),
    [
        (mlp(), (normal(8, 16, seed=11),), 1),
        (cnn(), (normal(1, 3, 8, 8, seed=12),), 1),
        (lstm(batch=1, size=4), (np.int32(5), normal(1, 4, seed=13), normal(16, 8, seed=14)), 2),
        (lstm_in_data(batch=1, size=4), (np.int32(5), normal(1, 4, seed=13), normal(16, 8, seed=14)), 2),
        (lstm_in_data(batch=1, size=4), (np.int32(2), normal(1, 4, seed=13), normal(16, 8, seed=14)), 2),
    ],
    ids=["mlp", "cnn", "lstm", "lstm in data", "lstm in data, shorter"],
)
def test_only_inputs_and_results_go_from_the_host_and_back(device, program, inputs, uploads):
    built = relay.build(program, target="toy_gpu")
    built(*inputs)  # brings the constants
    copied = Counter(device.copied)
    built(*inputs)
    copied = Counter(device.copied) - copied
    assert (copied["upload"], copied["download"]) == (uploads, 1)
    np.testing.assert_allclose(built(*inputs), relay.build(program)(*inputs), rtol=1e-4, atol=1e-6)


KEPT = kept(size=8)


@pytest.mark.parametrize("program", KEPT.values(), ids=KEPT)
def test_what_holds_tensors_holds_them_on_the_device(device, program):
    """However many there are, the two inputs go there, and the result comes back."""
    built, host = relay.build(program, target="toy_gpu"), relay.build(program)
    x, w = normal(8, 8, seed=51), 0.3 * normal(8, 8, seed=52)
    built(np.int32(1), x, w)  # brings the constants
    for count in (3, 9):
        copied = Counter(device.copied)
        result = built(np.int32(count), x, w)
        copied = Counter(device.copied) - copied
        assert (copied["upload"], copied["download"]) == (2, 1)
        np.testing.assert_allclose(result, host(np.int32(count), x, w), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("program", "inputs"),
    [
        (relay.IRModule.from_expr(mlp()), (normal(8, 16, seed=11),)),
        (relay.IRModule.from_expr(cnn()), (normal(1, 3, 8, 8, seed=12),)),
        (lstm(batch=1, size=4), (np.int32(3), normal(1, 4, seed=13), normal(16, 8, seed=14))),
    ],
    ids=["mlp", "cnn", "lstm"],
)
def test_what_is_partitioned_for_a_kind_of_target_runs_on_its_device(device, program, inputs):
    partitioned = Sequential([AnnotateTarget(["toy_gpu"]), MergeCompilerRegions, PartitionGraph])(program)
    assert any(each.attrs.get("Compiler") == "toy_gpu" for each in partitioned.functions.values())
    built = relay.build(partitioned, target="toy_gpu")
    np.testing.assert_allclose(built(*inputs), relay.build(program)(*inputs), rtol=1e-4, atol=1e-6)
    assert device.launches
    with pytest.raises(RelayError) as caught:
        relay.build(partitioned)
    assert caught.value.rule == "no-such-compiler"
    assert caught.value.remedy == 'build it for that target: relay.build(…, target="toy_gpu")'


@pytest.mark.usefixtures("device")
def test_a_kind_of_target_says_why_it_refuses():
    x = relay.var("x", shape=(4, 4))
    said = refusals(relay.IRModule.from_expr(relay.Function([x], relay.sort(x))), ["toy_gpu"])
    assert said == ("@main, sort: toy_gpu: it has no loops of its own for scans and sorts",)


@pytest.mark.usefixtures("device")
def test_a_choice_on_record_is_refused_where_none_is_taken():
    kernels = compile_stages(mlp(), "toy_gpu").kernels
    kernel = next(each for each in kernels if each.target.device_kind == "toy_gpu")
    own = replace(kernel, recorded=ScheduleRecord(kernel.text, choice=kernel.choice()))
    assert own.schedule() == kernel.schedule()
    other = replace(kernel, recorded=ScheduleRecord(kernel.text, choice=Choice("matmul")))
    with pytest.raises(RelayError) as error:
        other.schedule()
    check_message("schedule_records", "a_choice_where_none_is_taken", error.value)


def test_what_it_refuses_runs_on_the_host_and_says_why(device):
    x = relay.var("x", shape=(4, 8))
    program = relay.Function([x], relay.nn.relu(relay.sort(relay.exp(x))))
    stages = compile_stages(program, "toy_gpu")
    (refused,) = [each.refusals for each in stages.called_kernels]
    assert refused == ("toy_gpu: it has no loops of its own for scans and sorts",)
    data = normal(4, 8, seed=15)
    np.testing.assert_allclose(relay.build(program, target="toy_gpu")(data), np.maximum(np.sort(np.exp(data)), 0), 1e-5)


def test_a_product_goes_by_tiles_in_shared_memory(device):
    x, y = relay.var("x", shape=(8, 16)), relay.var("y", shape=(12, 16))
    product = compile_stages(relay.Function([x, y], relay.nn.dense(x, y)), "toy_gpu")
    (kernel,) = [each for each in product.kernels if each.target.device_kind == "toy_gpu"]
    text = kernel.target.text(kernel.lowered())
    assert text.count("] shared") == 2
    assert text.count("barrier.block") == 2


@pytest.mark.parametrize(
    ("length", "shuffles", "barriers"), [(16, 4, 0), (200, 4, 3)], ids=["a subgroup", "the subgroups of a block"]
)
def test_a_sum_is_a_tree_of_lanes_and_above_it_of_subgroups(device, length, shuffles, barriers):
    """Lanes take each other's parts from registers; only subgroups need memory that they share, and wait for it."""
    x = relay.var("x", shape=(3, length))
    function = relay.Function([x], relay.nn.softmax(x))
    kernels = compile_stages(relay.Function([x], relay.sum(x, axis=[1])), "toy_gpu").kernels
    (text,) = [each.target.text(each.lowered()) for each in kernels if each.target.device_kind == "toy_gpu"]
    assert text.count("shuffle.threadIdx.x") == shuffles
    assert text.count("barrier.block") == barriers
    assert ("] shared" in text) is (barriers > 0)
    data = normal(3, length, seed=17)
    built = relay.build(function, target="toy_gpu")
    for _ in range(3):
        np.testing.assert_allclose(built(data), relay.build(function)(data), rtol=1e-5, atol=1e-7)
    assert device.launches


def test_a_saved_model_needs_the_device_and_no_compiler(device, tmp_path):
    relay.build(mlp(), target="toy_gpu").save(tmp_path / "mlp.rlx")
    loaded = relay.load(tmp_path / "mlp.rlx")
    assert [(each.kind, each.formats) for each in loaded.manifest.devices] == [("toy_gpu", ("toy-gpu-1",))]
    x = normal(8, 16, seed=16)
    np.testing.assert_allclose(loaded(x), relay.build(mlp())(x), rtol=1e-4, atol=1e-6)


def test_a_flag_that_it_does_not_know(device):
    with pytest.raises(RelayError) as caught:
        relay.build(mlp(), target="toy_gpu -threads=3")
    assert (caught.value.rule, caught.value.found) == ("toy-gpu-flag", "-threads=3")
