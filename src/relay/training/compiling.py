"""From a model, a loss and an optimizer to a compiled step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from relay.base.arguments import MAPPING, TEXT, Kind, expect, expect_each
from relay.base.diagnostics import RelayError
from relay.base.target import Target
from relay.driver.build import build, compile_stages
from relay.driver.parameters import bind_params, param_array
from relay.driver.program import GivenProgram, checked_params, given_program
from relay.driver.progress import Progress
from relay.infer.infer_type import infer_type
from relay.ir.expr import VARIABLE, Function, Var
from relay.ir.known_types import known_type, typed_var
from relay.ir.module import UPDATES, IRModule
from relay.ir.types import FuncType, TensorType, TupleType
from relay.ir.variables import substitute
from relay.runtime.executable import Executable
from relay.training.objective import LossFunction, Measure, Objective
from relay.training.optimizers import Optimizer
from relay.training.program import StepOptions, step_program
from relay.training.scaling import LossScale
from relay.training.step import TrainingStep, check_apart
from relay.transform.functions.inline_small_functions import InlineSmallFunctions
from relay.transform.functions.remove_unused_functions import RemoveUnusedFunctions
from relay.transform.gradients.apply_transformations import ApplyTransformations

_NAMES = Kind((tuple, list), "a tuple of names", lambda value: f"write ({value!r},)" if isinstance(value, str) else "")
_VARIABLES = Kind((tuple, list), "a list of variables", lambda _: "write labels=[relay.var(…)]")


def compile_step(
    program: GivenProgram,
    optimizer: Optimizer,
    loss: Measure | None = None,
    labels: Sequence[Var] = (),
    *,
    metrics: Mapping[str, Measure] | None = None,
    params: Mapping[str, Any] | None = None,
    frozen: Sequence[str] = (),
    tied: Mapping[str, str] | None = None,
    key: str = "",
    accumulated: int = 1,
    check_finite: bool = False,
    loss_scale: LossScale | None = None,
    precision: str = "float32",
    target: str | Target = "llvm",
    opt_level: int | None = None,
    progress: Progress | None = None,
) -> TrainingStep:
    """Compile a step of training a model.

    `program` is a model and its parameters, as importers and `to_relay` give them: a module whose `@main` takes
    parameters and inputs, with arrays by name (`params` are more of these). All that are floats are trained but those
    whose names fit a pattern in `frozen` (`"encoder.*"`), which are constants. `tied` names parameters that are another
    one: `{"head.weight": "embedding.weight"}`. `key` names an input that is a random key: every step has another. What
    the attribute `updates` of `@main` names (running statistics, of importers) are parameters whose new values its last
    results are: they go along with the others, and are not trained.

    `loss` is a function of what the model gives (several results as a tuple) and of `labels`, variables for what comes
    with a batch; the losses here make a variable `labels` themselves. Without a loss the model gives it. `metrics` are
    such functions too, of any shape.

    An update takes the mean gradient of `accumulated` batches. With `check_finite` a loss or gradient that is not
    finite raises and changes nothing; with a `loss_scale` such updates are left out. `precision` is that of products
    and what can follow them, forward and backward: `bfloat16`, or `float16`, which wants a loss scale; parameters, loss
    and updates stay in float32 (`ToMixedPrecision`).

    Raises `RelayError`: `bad-loss`, `bad-optimizer`, `unknown-parameter`, `parameter-type`, `same-array-twice`, and
    what is wrong with the program or has no gradient.

    >>> import numpy as np, relay
    >>> x, w = relay.var("x", shape=("n", 3)), relay.var("w", shape=(1, 3))
    >>> model = relay.Function([x, w], relay.nn.dense(x, w))
    >>> step = compile_step(
    ...     (model, {"w": np.zeros((1, 3), np.float32)}),
    ...     relay.training.SGD(0.25), relay.training.MeanSquaredError(),
    ... )
    >>> state = step.init()
    >>> batch = np.eye(3, dtype=np.float32), np.ones((3, 1), np.float32)
    >>> [round(float(step(state, *batch).loss), 3) for _ in range(3)]
    [1.0, 0.694, 0.482]
    """
    expect(labels, _VARIABLES, "what is given for `labels`")
    expect_each(labels, VARIABLE, "a label")
    expect(frozen, _NAMES, "what is given for `frozen`")
    expect_each(frozen, TEXT, "a pattern of names")
    for name, each in (("metrics", metrics), ("tied", tied)):
        if each is not None:
            expect(each, MAPPING, f"what is given for `{name}`")
    if accumulated < 1:
        raise RelayError(rule="bad-accumulation", message="an update takes batches", expected="1 or more",
                         found=str(accumulated))  # fmt: skip
    module, own = given_program(program)
    module, given = _with_ties(module, {**own, **checked_params(params)}, tied or {})
    buffers = cast("tuple[str, ...]", module["main"].attrs.get(UPDATES, ()))
    model, kept = _with_constants(module, given, frozen, buffers)
    trained = {name: each for name, each in kept.items() if name not in buffers}
    kept = {**trained, **{name: kept[name] for name in buffers}}
    check_apart(kept)
    compared = tuple(labels) or _labels_of(loss, model, len(buffers))
    options = StepOptions(key, accumulated, check_finite, loss_scale)
    function = LossFunction(Objective(model, tuple(trained), buffers, loss, compared, dict(metrics or {})), precision)

    def compiled(module: IRModule, donate: tuple[str, ...]) -> Executable:
        with compile_stages(module, target, opt_level=opt_level).context:
            alone = RemoveUnusedFunctions(InlineSmallFunctions(ApplyTransformations(module)))  # nobody calls its parts
        return build(alone, target, opt_level=opt_level, progress=progress, donate=donate)

    return TrainingStep(step_program(function, optimizer, options), options, kept, compiled)


def _with_constants(
    module: IRModule, params: Mapping[str, Any], frozen: Sequence[str], buffers: Sequence[str]
) -> tuple[IRModule, dict[str, NDArray[np.generic]]]:
    """The typed module with what never changes as constants, and the arrays of what does."""
    by_name = {each.name_hint: each for each in infer_type(module)["main"].params}
    kept: dict[str, NDArray[np.generic]] = {}
    fixed: dict[str, NDArray[np.generic]] = {}
    for name, value in params.items():
        array = param_array(by_name.get(name) or _no_parameter(name, by_name), value)
        is_fixed = array.dtype.kind in "iub" or any(fnmatchcase(name, each) for each in frozen)
        is_fixed = is_fixed and name not in buffers
        (fixed if is_fixed else kept)[name] = array
    return infer_type(bind_params(module, fixed)), kept


def _labels_of(loss: Measure | None, model: IRModule, buffers: int) -> tuple[Var, ...]:
    """The variable of what a loss of ours compares with. The last results of the model are new `buffers`."""
    target_type = getattr(loss, "target_type", None)
    if target_type is None:
        return ()
    type_ = known_type(model["main"])
    assert isinstance(type_, FuncType)
    result = type_.ret_type
    if isinstance(result, TupleType) and len(result.fields) == buffers + 1:
        result = result.fields[0]
    if not isinstance(result, TensorType):
        raise RelayError(
            rule="bad-loss", message="the model gives more than one tensor, so its loss is yours to write",
            expected="a tensor", found=str(result),
            remedy="loss=lambda outputs, labels: relay.training.CrossEntropy()(outputs[0], labels), labels=[…]",
        )  # fmt: skip
    return (typed_var("labels", target_type(result)),)


def _with_ties(module: IRModule, params: dict[str, Any], tied: Mapping[str, str]) -> tuple[IRModule, dict[str, Any]]:
    """The module and the parameters without those that are another one."""
    if not tied:
        return module, params
    main = infer_type(module)["main"]
    by_name = {each.name_hint: each for each in main.params}
    for name in (*tied, *tied.values()):
        if name not in by_name:
            _no_parameter(name, by_name)
    for name, other in tied.items():
        if other in tied or known_type(by_name[name]) != known_type(by_name[other]):
            raise RelayError(
                rule="bad-tie", message=f"%{name} cannot be tied to %{other}",
                expected="a parameter of the same type that is tied to no other",
                found=f"{known_type(by_name[name])} and {known_type(by_name[other])}",
            )  # fmt: skip
    body = substitute(main.body, {by_name[name]: by_name[other] for name, other in tied.items()})
    kept = tuple(each for each in main.params if each.name_hint not in tied)
    made = Function(kept, body, main.ret_type, main.type_params, main.attrs, span=main.span)
    return module.with_function("main", made), {name: each for name, each in params.items() if name not in tied}


def _no_parameter(name: str, by_name: Mapping[str, Var]) -> Var:
    raise RelayError(
        rule="unknown-parameter", message=f"@main has no parameter %{name}",
        expected="one of " + ", ".join(f"%{each}" for each in by_name), found=f"%{name}",
    )  # fmt: skip
