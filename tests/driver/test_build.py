"""`relay.build`, as a user meets it: programs in, arrays out."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import relay
from relay.runtime.artefact.manifest import TupleSpec
from relay.runtime.memory.objects import pool_threads
from tests.driver.programs import WEIGHT, layer, layer_result, rows, same_shape_pair
from tests.messages import check_message


@pytest.fixture(scope="module")
def executable() -> relay.Executable:
    return relay.build(layer())


def test_by_position_and_by_name(executable):
    x = rows(5)
    expected = layer_result(x, WEIGHT)
    np.testing.assert_allclose(executable(x, WEIGHT), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(executable(w=WEIGHT, x=x), executable(x, WEIGHT))
    np.testing.assert_array_equal(executable(x, w=WEIGHT), executable(x, WEIGHT))


@pytest.mark.parametrize("batch", [0, 1, 3, 1000])
def test_one_executable_serves_every_batch(executable, batch):
    x = rows(batch)
    result = executable(x, WEIGHT)
    assert result.shape == (batch, 3)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, layer_result(x, WEIGHT), rtol=1e-5, atol=1e-6)


def test_batches_in_turn(executable):
    """What is known of the call before is not taken for the next one."""
    for batch in (2, 2, 5, 2, 5, 5, 0, 2):
        x = rows(batch, seed=batch)
        np.testing.assert_allclose(executable(x, WEIGHT), layer_result(x, WEIGHT), rtol=1e-5, atol=1e-6)


def test_what_has_a_shape_that_is_none(executable):
    executable(rows(2), WEIGHT)

    class Odd:
        shape = np.arange(3)

    with pytest.raises(relay.RelayError):
        executable(Odd(), WEIGHT)


def test_results_of_one_call_are_not_touched_by_the_next(executable):
    first = executable(rows(3), WEIGHT)
    kept = first.copy()
    executable(rows(3, seed=9), WEIGHT)
    np.testing.assert_array_equal(first, kept)


def test_results_nest_as_the_type_says():
    x = relay.var("x", shape=(2,))
    inner = relay.Tuple([relay.negative(x), x, relay.const(3.0)])
    executable = relay.build(relay.Function([x], relay.Tuple([relay.exp(x), inner, relay.Tuple([])])))
    given = np.array([0.0, 1.0], np.float32)
    exp, (negative, same, three), nothing = executable(given)
    np.testing.assert_allclose(exp, np.exp(given), rtol=1e-6)
    np.testing.assert_array_equal(negative, -given)
    np.testing.assert_array_equal(same, given)
    assert same is not given  # a result is the caller's own, even where it is an input
    assert not np.shares_memory(same, given)
    assert three.shape == ()
    assert float(three) == 3.0
    assert nothing == ()
    assert executable.entry.result == TupleSpec((0, TupleSpec((1, 2, 3)), TupleSpec(())))


def test_the_same_value_twice_is_two_results():
    x = relay.var("x", shape=(2,))
    y = relay.exp(x)
    left, right = relay.build(relay.Function([x], relay.Tuple([y, y])))(np.zeros(2, np.float32))
    left[0] = 7
    np.testing.assert_array_equal(right, [1, 1])


def test_tuples_go_in_as_their_parts():
    pair = relay.Var("pair", relay.TupleType([relay.TensorType((2,), "float32")] * 2))
    executable = relay.build(relay.Function([pair], relay.TupleGetItem(pair, 0) - relay.TupleGetItem(pair, 1)))
    assert [spec.name for spec in executable.entry.inputs] == ["pair.0", "pair.1"]
    np.testing.assert_array_equal(executable(np.full(2, 5, np.float32), np.ones(2, np.float32)), [4, 4])


def test_scalars():
    x = relay.var("x", shape=(), dtype="float32")
    executable = relay.build(relay.Function([x], x * relay.const(2.0)))
    for given in (1.5, np.float32(1.5), np.array(1.5, np.float32)):
        result = executable(given)
        assert result.shape == ()
        assert float(result) == 3.0


def test_integer_scalars_are_exact_or_refused():
    x = relay.var("x", shape=(), dtype="int8")
    executable = relay.build(relay.Function([x], relay.negative(x)))
    assert int(executable(100)) == -100
    for wrong in (300, 2.5, float("nan")):
        with pytest.raises(relay.RelayError, match="input-value"):
            executable(wrong)


@pytest.mark.parametrize(
    ("declared", "shape"),
    [((0,), (0,)), ((0, 3), (0, 3)), ((2, 0, 5), (2, 0, 5)), (("n", "m"), (3, 0)), ((2, "n", 5), (2, 0, 5))],
)
def test_tensors_of_no_elements(declared, shape):
    x = relay.var("x", shape=declared)
    executable = relay.build(relay.Function([x], relay.Tuple([relay.exp(x), relay.sum(x)])))
    exp, total = executable(np.zeros(shape, np.float32))
    assert exp.shape == shape
    assert float(total) == 0


def test_a_program_without_inputs():
    assert relay.build(relay.Function([], relay.const([1.0, 2.0])))().tolist() == [1.0, 2.0]


def test_an_extent_that_is_a_multiple_of_a_symbol():
    n = relay.symbol("n")
    x = relay.var("x", shape=(2 * n + 1,))
    executable = relay.build(relay.Function([x], x + x))
    np.testing.assert_array_equal(executable(np.ones(7, np.float32)), np.full(7, 2))
    with pytest.raises(relay.RelayError) as caught:
        executable(np.ones(6, np.float32))
    check_message("runtime", "odd-extent", caught.value)


def test_inputs_that_are_too_small_for_the_program():
    x = relay.var("x", shape=(1, 2, "n"))
    executable = relay.build(relay.Function([x], relay.nn.conv1d(x, relay.const(np.ones((3, 2, 5), np.float32)))))
    assert executable(np.ones((1, 2, 6), np.float32)).shape == (1, 3, 2)
    with pytest.raises(relay.RelayError) as caught:
        executable(np.ones((1, 2, 2), np.float32))
    check_message("runtime", "negative-extent", caught.value)


def test_an_extent_that_is_divided_by_another():
    """What PyTorch's views of windows give: their number by that of the images, which is a part of it."""
    n = relay.symbol("n")
    x = relay.var("x", shape=(n, 8))
    function = relay.Function([x], relay.exp(relay.reshape(x, (n // 4, 8 * n // (n // 4)))))
    executable = relay.build(function)
    assert executable(np.zeros((5, 8), np.float32)).shape == (1, 40)
    with pytest.raises(relay.RelayError) as caught:
        executable(np.zeros((3, 8), np.float32))
    check_message("runtime", "undefined-extent", caught.value)
    with pytest.raises(relay.RelayError, match="undefined-extent"):
        relay.create_executor("interpreter", mod=function).evaluate()(np.zeros((3, 8), np.float32))


def test_an_extent_that_no_input_determines():
    n, m = relay.symbol("n"), relay.symbol("m")
    x = relay.Var("x", relay.TensorType((n * m,), "float32"))
    with pytest.raises(relay.RelayError) as caught:
        relay.build(relay.Function([x], relay.exp(x)))
    assert caught.value.rule == "undetermined-extent"
    assert "determine" in str(caught.value)


def test_checks_that_only_the_run_decides():
    executable = relay.build(same_shape_pair())
    np.testing.assert_array_equal(executable(np.ones(4, np.float32), np.ones(4, np.float32)), np.full(4, 2))
    with pytest.raises(relay.RelayError) as caught:
        executable(np.ones(4, np.float32), np.ones(5, np.float32))
    check_message("runtime", "check-failed", caught.value)


def test_one_symbol_is_one_extent():
    module = relay.parse(
        '#[version = "0.0.5"]\ndef @main(%x: Tensor[(n), float32], %y: Tensor[(n), float32]) { %x + %y }'
    )
    with pytest.raises(relay.RelayError) as caught:
        relay.build(module)(np.ones(4, np.float32), np.ones(5, np.float32))
    check_message("runtime", "extents-differ", caught.value)


def test_params_become_constants(tmp_path):
    params = {"w": WEIGHT}
    bound = relay.build(layer(), params=params)
    assert [spec.name for spec in bound.entry.inputs] == ["x"]
    x = rows(2)
    np.testing.assert_allclose(bound(x), layer_result(x, WEIGHT), rtol=1e-5, atol=1e-6)
    relay.save_params(params, tmp_path / "weights.safetensors")
    read = relay.load_params(tmp_path / "weights.safetensors")
    np.testing.assert_array_equal(relay.build(layer(), params=read)(x), bound(x))


def test_params_may_come_from_other_libraries():
    torch = pytest.importorskip("torch")
    x = rows(2)
    bound = relay.build(layer(), params={"w": torch.from_numpy(WEIGHT)})
    np.testing.assert_allclose(bound(x), layer_result(x, WEIGHT), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("unknown-parameter", {"weight": WEIGHT}),
        ("parameter-shape", {"w": rows(3, 5)}),
        ("parameter-dtype", {"w": WEIGHT.astype(np.float64)}),
    ],
)
def test_params_that_do_not_fit(name, params):
    with pytest.raises(relay.RelayError) as caught:
        relay.build(layer(), params=params)
    check_message("driver", name, caught.value)


@pytest.mark.parametrize("content", [None, b"", b"\xff" * 64, b'\x08\0\0\0\0\0\0\0{"a":1}'])
def test_damaged_params_are_refused(tmp_path, content):
    path = tmp_path / "p.safetensors"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(relay.RelayError, match="bad-params"):
        relay.load_params(path)


@pytest.mark.parametrize(
    ("name", "target"),
    [("no-such-backend", "cuda"), ("no-such-flag", "llvm -march=x"), ("no-such-cpu", "llvm -mcpu=hal9000")],
)
def test_targets_that_cannot_be(name, target):
    with pytest.raises(relay.RelayError) as caught:
        relay.build(layer(), target=target)
    check_message("driver", name, caught.value)


def test_a_program_for_another_machine_is_not_run():
    """It is built, since it may be exported for that machine; it is not run here."""
    executable = relay.build(layer(), target="llvm -mtriple=aarch64-unknown-linux-gnu")
    with pytest.raises(relay.RelayError, match="wrong-machine"):
        executable(rows(1), WEIGHT)


@pytest.mark.parametrize("level", [-1, 5])
def test_levels_that_are_not(level):
    with pytest.raises(relay.RelayError, match="opt-level"):
        relay.build(layer(), opt_level=level)


@pytest.mark.parametrize("level", range(5))
def test_every_level_gives_the_same_numbers(level):
    x = rows(3)
    result = relay.build(layer(), opt_level=level, params={"w": WEIGHT})(x)
    np.testing.assert_allclose(result, layer_result(x, WEIGHT), rtol=1e-5, atol=1e-6)


def test_the_context_of_the_user_counts():
    counts = relay.transform.NodeCounts()
    context = relay.PassContext(opt_level=3, disabled_pass=("FuseOps",), instruments=[counts])
    with context, pytest.raises(relay.RelayError):  # lowering needs primitive functions
        relay.build(layer())
    names = [row.name for row in counts.rows]
    assert "FoldConstant" in names
    assert "FuseOps" not in names


def test_executors_agree():
    x = rows(2)
    kinds = ("aot", "vm", "interpreter", "debug")
    results = [relay.create_executor(kind, mod=layer()).evaluate()(x, w=WEIGHT) for kind in kinds]
    for result in results[1:]:
        np.testing.assert_allclose(result, results[0], rtol=1e-5, atol=1e-6)
    with pytest.raises(relay.RelayError) as caught:
        relay.create_executor("llvm", mod=layer())
    check_message("driver", "unknown-executor", caught.value)


def test_an_executor_evaluates_expressions_of_its_module():
    module = relay.parse('#[version = "0.0.5"]\ndef @twice(%x: float32) { %x + %x }')
    x = relay.var("x", shape=(), dtype="float32")
    call = relay.Function([x], relay.Call(relay.GlobalVar("twice"), [x]))
    assert float(relay.create_executor("interpreter", mod=module).evaluate(call)(2.0)) == 4.0


def test_threads_may_call_at_once(executable):
    """Many calls at different extents, from many threads, none of which sees another's numbers."""
    start = threading.Barrier(4)

    def work(seed: int) -> float:
        start.wait()
        worst = 0.0
        for round_ in range(200):
            x = rows(1 + (seed * 7 + round_) % 50, seed=seed)
            worst = max(worst, float(np.abs(executable(x, WEIGHT) - layer_result(x, WEIGHT)).max()))
        return worst

    with ThreadPoolExecutor(4) as pool:
        assert max(pool.map(work, range(4))) < 1e-5


def test_several_functions_of_one_module():
    module = relay.parse(
        '#[version = "0.0.5"]\n'
        "def @main(%x: Tensor[(2), float32]) { exp(%x) }\n"
        "def @other(%y: Tensor[(3), float32]) { negative(%y) }"
    )
    executable = relay.build(module)
    np.testing.assert_array_equal(executable["other"](np.ones(3, np.float32)), [-1, -1, -1])
    with pytest.raises(relay.RelayError) as caught:
        executable["third"]
    check_message("runtime", "unknown-entry", caught.value)


def test_only_functions_of_the_program_can_be_called():
    """The loops in them become functions too, of which callers know nothing."""

    @relay.function
    def halved(n: int) -> int:
        steps = 0
        while n > 1:
            n = n // 2
            steps = steps + 1
        return steps

    module = relay.IRModule({"main": halved.module["main"], "twice": halved.module["main"]})
    stages = relay.driver.compile_stages(module, opt_level=3)
    assert len(stages.optimized.functions) > 2
    assert sorted(each.name for each in stages.program.entries) == ["main", "twice"]
    assert relay.build(module, opt_level=3)["twice"](9) == 3


def test_functions_that_are_changed_for_their_callers_stay_for_others():
    """`@main` takes one of two results, and always hands over one constant."""
    module = relay.parse(
        """#[version = "0.0.5"]
def @main(%x: Tensor[(4,), float32], %n: int32) {
  let %pair = @powers(%x, %n, 2f);
  %pair.0
}
def @powers(%x: Tensor[(4,), float32], %n: int32, %k: float32)
    -> (Tensor[(4,), float32], Tensor[(4,), float32]) {
  if (equal(%n, 0)) { (%x, negative(%x)) } else {
    let %less = @powers(multiply(%x, %k), subtract(%n, 1), %k);
    (%less.0, add(%less.1, %x))
  }
}"""
    )
    executable = relay.build(module, opt_level=3)
    ones = np.ones(4, np.float32)
    np.testing.assert_array_equal(executable(ones, np.int32(2)), 4 * ones)
    first, second = executable["powers"](ones, np.int32(2), np.float32(3))
    np.testing.assert_array_equal(first, 9 * ones)
    np.testing.assert_array_equal(second, -5 * ones)
    with pytest.raises(relay.RelayError, match="one of main, powers\n"):
        executable["less"]


@pytest.mark.parametrize("action", [pickle.dumps, copy.copy, copy.deepcopy])
def test_native_code_is_not_pickled(executable, action):
    with pytest.raises(relay.RelayError) as caught:
        action(executable)
    check_message("runtime", "cannot-pickle", caught.value)


def test_what_an_executable_says_of_itself(executable):
    taken, given = "(x: float32[n, 4], w: float32[3, 4])", "(output: float32[n, 3])"
    count = len(executable.manifest.kernels)
    assert repr(executable).startswith(f"<relay executable: {taken} -> {given}; {count} kernels, ")


@pytest.mark.parametrize("count", [0, -1, "2", 1.5, None, True])
def test_thread_counts_are_positive(count):
    with pytest.raises(relay.RelayError, match="bad-threads"):
        relay.set_num_threads(count)
    with pytest.raises(relay.RelayError, match="bad-threads"), relay.num_threads(count):
        pass


def test_each_thread_limits_its_own_calls(executable):
    executable(rows(5), WEIGHT)  # loads the pool
    everywhere, seen = pool_threads(), []
    with relay.num_threads(1):
        executable(rows(5), WEIGHT)
        seen.append(pool_threads())
        other = threading.Thread(target=lambda: seen.append(pool_threads()))
        other.start()
        other.join()
    assert [*seen, pool_threads()] == [1, everywhere, everywhere]


def test_the_first_program_of_a_process_does_not_limit_the_others():
    code = """
import os
import numpy as np, relay
from relay.runtime.memory.objects import pool_threads
x = relay.var("x", shape=(4,))
f = relay.Function([x], relay.exp(x))
relay.build(f, "llvm -num-threads=1")(np.ones(4, "float32"))
alone = pool_threads()
relay.build(f, "llvm")(np.ones(4, "float32"))
assert alone == pool_threads() == len(os.sched_getaffinity(0)), (alone, pool_threads())
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


class Enough(Exception):
    pass


def have_enough(stage: str, done: int, total: int) -> None:
    raise Enough(f"{stage} {done}/{total}")


@pytest.mark.parametrize("target", ["llvm", "llvm -num-threads=1"])
def test_what_the_users_progress_raises_is_raised(target):
    with pytest.raises(Enough, match="kernels") as caught:
        relay.build(layer(), target, progress=have_enough)
    assert [each.name for each in caught.traceback][-1] == "have_enough"
    assert caught.value.__suppress_context__
    assert relay.build(layer(), target)(rows(2), WEIGHT).shape == (2, 3)


@pytest.mark.parametrize("make", [relay.build, relay.driver.build_graph])
def test_so_is_what_it_was_caused_by(make):
    x = relay.var("x", shape=(2,))

    def tell(stage: str, done: int, total: int) -> None:
        try:
            have_enough(stage, done, total)
        except Enough as error:
            raise RuntimeError("stop") from error

    with pytest.raises(RuntimeError, match="stop") as caught:
        make(relay.Function([x], relay.exp(x)), progress=tell)
    assert isinstance(caught.value.__cause__, Enough)
