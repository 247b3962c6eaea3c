"""What users write: `relay.nn.conv2d(x, w, …)`, `x + 1`, `relay.var("x", shape=("n", 784))`."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import relay
from relay import dyn, image, nn, op, random, vision
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.infer.infer_type import infer_type
from relay.ir.expr import Call, Constant, Expr, Function, Op, Tuple, Var, const
from relay.ir.module import IRModule
from relay.ir.types import ANY, TensorType
from relay.ops.framework.build import symbol, tensor_type, var
from relay.ops.framework.record import OperatorRecord
from relay.ops.table import OPERATORS

WITHOUT_FUNCTION = {"nn.dropout"}  # `nn.dropout` gives the first field; `nn.dropout_raw` is the record's call


def image_data(*shape: int | str) -> Var:
    return var("x", shape=shape or ("n", 3, 8, 8))


def text(expr: Expr) -> str:
    return str(expr.checked_type)


def operator(call: Expr) -> OperatorRecord:
    assert isinstance(call, Call)
    assert isinstance(call.op, Op)
    record = call.op.operator
    assert isinstance(record, OperatorRecord)
    return record


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_has_its_published_function(name: str) -> None:
    space, _, leaf = name.rpartition(".")
    face = {"": op, "nn": nn, "image": image, "dyn": dyn, "dyn.nn": dyn, "vision": vision, "random": random}[space]
    function = getattr(face, leaf)
    assert inspect.getdoc(function)
    assert not inspect.signature(function).parameters.keys() & {"args", "kwargs"}


def test_a_convolution_as_users_write_it() -> None:
    data, weight = image_data(1, 56, 56, 64), var("w", shape=(3, 3, 64, 64))
    layer = nn.conv2d(
        data, weight, kernel_size=(3, 3), channels=64, padding=(1, 1), data_layout="NHWC", kernel_layout="HWIO"
    )
    assert text(layer) == "Tensor[(1, 56, 56, 64), float32]"
    assert layer.attrs is not None
    assert dict(layer.attrs.shown())["padding"] == (1, 1, 1, 1)


def test_equal_names_are_equal_extents() -> None:
    x, y = var("x", shape=("n", 4)), var("y", shape=("n", 1))
    assert text(x + y) == "Tensor[(n, 4), float32]"
    assert x.type_annotation == TensorType((symbol("n"), 4), DType.FLOAT32)
    assert tensor_type(("?", 2)).shape == (ANY, 2)


def test_python_arithmetic_is_relay() -> None:
    x = var("x", shape=(2, "n"))
    for call, name in (
        (x + 1, "add"), (1 - x, "subtract"), (x * 2.0, "multiply"), (1.0 / x, "divide"), (-x, "negative"),
        (x < 1, "less"), (x <= x, "less_equal"), (x > 1, "greater"), (x >= 0, "greater_equal"),
    ):  # fmt: skip
        assert operator(call).name == name
        assert call.checked_type is not None


def test_numbers_take_the_type_of_the_other_side() -> None:
    half = var("h", shape=(2,), dtype="float16")
    whole = var("i", shape=(2,), dtype="int64")
    assert text(half + 1) == "Tensor[(2,), float16]"
    assert text(3 * whole) == "Tensor[(2,), int64]"
    with pytest.raises(RelayError, match="dtypes-differ"):
        whole + 1.5
    with pytest.raises(RelayError, match="dtypes-differ"):
        var("b", shape=(2,), dtype="int8") + 300


def test_lists_are_tuples_and_arrays_are_constants() -> None:
    x = var("x", shape=(2, 3))
    joined = op.concatenate([x, np.ones((1, 3), np.float32), const([[0.0, 1.0, 2.0]])], axis=0)
    assert text(joined) == "Tensor[(4, 3), float32]"
    assert isinstance(joined.args[0], Tuple)
    assert isinstance(joined.args[0].fields[1], Constant)


def test_results_that_are_tuples_unpack() -> None:
    first, second = op.split(var("x", shape=(6, "n")), 2)
    assert text(first + second) == "Tensor[(3, n), float32]"
    vectors = [var(name, shape=(3,)) for name in ("gamma", "beta", "mean", "variance")]
    normal = nn.batch_norm(image_data(), *vectors)
    assert len(normal) == 3
    assert text(nn.relu(normal[0])) == "Tensor[(n, 3, 8, 8), float32]"
    assert text(op.concatenate(op.split(var("y", shape=(4,)), 2), 0)) == "Tensor[(4,), float32]"
    with pytest.raises(IndexError):
        normal[3]


def test_formulas_are_typed_expressions_of_other_operators() -> None:
    x = var("x", shape=("n", 8), dtype="float16")
    for formula in (nn.gelu, nn.silu, nn.hard_sigmoid, nn.hard_swish):
        assert text(formula(x)) == "Tensor[(n, 8), float16]"
    assert text(op.std(x, 1)) == "Tensor[(n,), float16]"
    assert text(op.logsumexp(x, 1, True)) == "Tensor[(n, 1), float16]"
    mean, deviation = op.mean_std(x, 0)
    assert text(mean) == text(deviation) == "Tensor[(8,), float16]"


def test_open_weights_are_inferred_from_data_and_attributes() -> None:
    x = image_data()
    parameters = [var(name) for name in ("w", "gamma", "beta", "mean", "variance", "dense", "bias")]
    w, gamma, beta, mean, variance, dense, bias = parameters
    y = nn.conv2d(x, w, channels=4, kernel_size=(3, 3))
    y = nn.batch_flatten(nn.batch_norm(y, gamma, beta, mean, variance)[0])
    y = nn.bias_add(nn.dense(y, dense, units=10), bias, axis=-1)
    module = infer_type(IRModule.from_expr(Function((x, *parameters), y)))
    main = module["main"]
    assert text(main.body) == "Tensor[(n, 10), float32]"
    found = [str(parameter.checked_type) for parameter in main.params[1:]]
    vector = "Tensor[(4,), float32]"
    assert found == [
        "Tensor[(4, 3, 3, 3), float32]",
        *(vector,) * 4,
        "Tensor[(10, 144), float32]",
        "Tensor[(10,), float32]",
    ]


def test_a_mismatch_is_raised_at_the_line_that_built_it() -> None:
    with pytest.raises(RelayError) as caught:
        nn.dense(var("x", shape=(32, 784)), var("w", shape=(10, 512)))
    error = caught.value
    assert error.rule == "axes-differ"
    assert error.span is not None
    assert error.span.source.name == __file__
    assert "nn.dense(var" in str(error)


@pytest.mark.parametrize(
    ("shape", "rule"), [((-1, 3), "bad-extent"), ((1.5,), "bad-extent"), ((True,), "bad-extent")], ids=str
)
def test_shapes_that_are_none(shape: tuple[object, ...], rule: str) -> None:
    with pytest.raises(RelayError) as caught:
        var("x", shape=shape)  # type: ignore[arg-type]
    assert caught.value.rule == rule


def test_arguments_that_are_no_expressions() -> None:
    with pytest.raises(RelayError, match="not-an-expression"):
        nn.relu(object())  # type: ignore[arg-type]
    with pytest.raises(RelayError, match="two-annotations"):
        var("x", "float32", shape=(1,))
    with pytest.raises(RelayError, match="bad-layout"):
        nn.conv2d(image_data(), var("w", shape=(4, 3, 3, 3)), data_layout="NCHW4")


def test_transposed_convolutions_take_groups_before_channels_as_published() -> None:
    image = nn.conv2d_transpose(image_data(1, 4, 5, 5), var("w", shape=(4, 3, 3, 3)), (2, 2), (1, 1), (1, 1), 2, 6, 3)
    row = nn.conv1d_transpose(image_data(1, 4, 5), var("w", shape=(4, 3, 3)), 2, 1, 1, 2, 6, 3)
    assert text(image) == "Tensor[(1, 6, 9, 9), float32]"
    assert text(row) == "Tensor[(1, 6, 9), float32]"


def test_what_moves_over_three_axes() -> None:
    space, weight = image_data("n", 3, 8, 9, 10), var("w", shape=(4, 3, 3, 3, 3))
    assert text(nn.conv3d(space, weight, (2, 2, 2), 1)) == "Tensor[(n, 4, 4, 5, 5), float32]"
    assert text(nn.conv3d_transpose(space, var("w", shape=(3, 4, 2, 2, 2)), 2)) == "Tensor[(n, 4, 16, 18, 20), float32]"
    assert text(nn.max_pool3d(space, 2, 2)) == text(nn.avg_pool3d(space, 2, 2)) == "Tensor[(n, 3, 4, 4, 5), float32]"
    assert text(nn.upsampling3d(space, 2, 1, 1.5)) == "Tensor[(n, 3, 16, 9, 15), float32]"


def test_products_of_batches_transpose_unless_told_and_say_so_in_text() -> None:
    x, y = var("x", shape=(2, 3, 3)), var("y", shape=(2, 3, 3))
    assert "transpose_b=True" in Function((x, y), nn.batch_matmul(x, y)).astext()
    assert "transpose" not in Function((x, y), nn.batch_matmul(x, y, transpose_b=False)).astext()


def test_scalars_by_dtype_name() -> None:
    assert text(var("i", "int32")) == "int32"


NUMBER, NUMBERS = var("k", dtype="int32", shape=()), var("k", dtype="int64", shape=(2,))
TABLE = var("x", shape=(4, 5))
TAKING_NUMBERS = {
    "squeeze": lambda _, ks: op.squeeze(TABLE, ks),
    "expand_dims": lambda k, _: op.expand_dims(TABLE, k),
    "upsampling": lambda k, _: nn.upsampling(image_data(), k, k),
    "softmax": lambda k, _: nn.softmax(TABLE, k),
    "clip": lambda k, _: op.clip(TABLE, k, 1.0),
    "conv2d": lambda k, _: nn.conv2d(image_data(), var("w", shape=(4, 3, 3, 3)), strides=(k, 1)),
}


@pytest.mark.parametrize("name", TAKING_NUMBERS)
def test_expressions_where_numbers_stand_are_refused_with_what_to_write(name: str) -> None:
    with pytest.raises(RelayError, match="value-not-known") as caught:
        TAKING_NUMBERS[name](NUMBER, NUMBERS)
    assert caught.value.remedy.startswith("give the number itself")
    assert caught.value.span is not None
    assert caught.value.span.source.name == __file__


def test_expressions_where_shapes_and_counts_stand_are_for_the_run() -> None:
    ids, widths = var("i", shape=(3,), dtype="int32"), var("w", dtype="int64", shape=(2, 2))
    for call, name in (
        (op.topk(TABLE, NUMBER, ret_type="values"), "dyn.topk"), (op.tile(TABLE, NUMBERS), "dyn.tile"),
        (nn.pad(TABLE, widths), "dyn.nn.pad"), (op.one_hot(ids, 1.0, 0.0, NUMBER, -1, "float32"), "dyn.one_hot"),
        (dyn.transpose(TABLE, NUMBERS), "dyn.transpose"),
    ):  # fmt: skip
        assert operator(call).name == name
        assert len(call.checked_type.shape) == 2


def test_constants_stand_for_their_numbers() -> None:
    assert text(op.topk(TABLE, const(3), ret_type="values")) == "Tensor[(4, 3), float32]"
    assert text(op.tile(TABLE, const([2, 1]))) == "Tensor[(8, 5), float32]"
    assert text(nn.pad(TABLE, const([[1, 0], [0, 2]]))) == "Tensor[(5, 7), float32]"
    assert text(op.expand_dims(TABLE, const(0))) == "Tensor[(1, 4, 5), float32]"
    assert text(nn.upsampling(image_data(1, 3, 4, 4), const(2), const(2))) == "Tensor[(1, 3, 8, 8), float32]"


def test_sums_of_segments() -> None:
    x, ids = np.arange(8, dtype=np.float32).reshape(4, 2), np.array([2, 0, 2, -9])
    for count, wanted in ((None, [[2, 3], [0, 0], [4, 6]]), (4, [[2, 3], [0, 0], [4, 6], [0, 0]])):
        data, numbers = var("x", shape=("n", 2)), var("ids", shape=("n",), dtype="int64")
        function = Function([data, numbers], op.segment_sum(data, numbers, count))
        np.testing.assert_array_equal(relay.build(function)(x, ids), np.array(wanted, np.float32))
    with pytest.raises(RelayError, match=r"unknown-type.*`data` must be a tensor"):
        op.segment_sum(var("x"), numbers)


def test_calls_of_one_operator_share_its_mention():
    x = var("x", shape=(2,))
    assert relay.tanh(x).op is relay.tanh(relay.tanh(x)).op
