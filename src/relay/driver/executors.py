"""`relay.create_executor`: one face for the ways to run a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from relay.base.arguments import CALLABLE, FLAG, TEXT, WHOLE_NUMBER, expect
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.base.target import Target
from relay.driver.build import build
from relay.driver.compiled_operators import CompiledOperators
from relay.driver.graph import build_graph
from relay.driver.parameters import bind_params
from relay.driver.program import GivenProgram, checked_params, given_program
from relay.driver.targets import targets_for
from relay.infer.infer_type import infer_type
from relay.interpret.evaluate import evaluate
from relay.interpret.machine import Trace, by_meaning
from relay.ir.expr import Expr
from relay.ir.module import IRModule
from relay.transform.gradients.apply_transformations import ApplyTransformations

KINDS: Mapping[str, str] = {
    "interpreter": "interpreter", "debug": "interpreter", "graph": "graph", "aot": "aot", "vm": "aot",
}  # fmt: skip
"""Executors by the names users know; `debug` and `vm` are Relay's."""


@frozen
class InterpreterOptions:
    """What only the interpreter can do. `step_limit`: how many nodes a call evaluates at most. `trace` is told of each
    node that has a value (`print` shows them). `compiled_operators`: operators run as kernels of the target."""

    step_limit: int | None = None
    trace: Trace | None = None
    compiled_operators: bool = False


@frozen
class Executor:
    """A module, and how it is to be run."""

    kind: str
    module: IRModule
    target: str | Target
    params: Mapping[str, Any]
    opt_level: int | None
    options: InterpreterOptions = InterpreterOptions()

    def evaluate(self, expr: Expr | None = None) -> Callable[..., Any]:
        """`@main` of the module, or `expr`, as a function of arrays (by position or by name).

        >>> import numpy as np, relay
        >>> x = relay.var("x", shape=(2,))
        >>> create_executor("interpreter").evaluate(relay.Function([x], x + x))(np.ones(2, np.float32))
        array([2., 2.], dtype=float32)
        """
        module = self.module if expr is None else self._with_main(expr)
        if self.kind == "aot":
            return build(module, self.target, self.params, self.opt_level)
        if self.kind == "graph":
            return build_graph(module, self.target, self.params, self.opt_level)
        bound = ApplyTransformations(infer_type(bind_params(module, self.params)))
        return self._interpreted(bound)

    def _interpreted(self, bound: IRModule) -> Callable[..., Any]:
        options = self.options
        call_operator = CompiledOperators(self.target) if options.compiled_operators else by_meaning
        run = partial(evaluate, bound, step_limit=options.step_limit, trace=options.trace, call_operator=call_operator)
        names = [parameter.name_hint for parameter in bound["main"].params]

        def call(*positional: Any, **named: Any) -> Any:
            if not named:
                return run(positional)
            twice = [name for name in names[: len(positional)] if name in named]
            if twice or len(positional) > len(names):
                raise RelayError(
                    rule="bad-input-name",
                    message=f"`{twice[0]}` was given twice" if twice else "`main` was given too many inputs",
                    expected=f"{len(names)} inputs: " + ", ".join(names),
                )
            return run({**dict(zip(names, positional, strict=False)), **named})

        return call

    def _with_main(self, expr: Expr) -> IRModule:
        main, _ = given_program(expr)
        return IRModule({**self.module.functions, **main.functions}, self.module.type_definitions)


def create_executor(
    kind: str = "aot",
    mod: GivenProgram | None = None,
    target: str | Target = "llvm",
    params: Mapping[str, Any] | None = None,
    opt_level: int | None = None,
    device: str | None = None,
    *,
    step_limit: int | None = None,
    trace: Trace | None = None,
    compiled_operators: bool = False,
) -> Executor:
    """An executor for a module: `"aot"` (alias `"vm"`) compiles to native code, `"graph"` to a `GraphExecutor`, whose
    kernels run one by one, `"interpreter"` (alias `"debug"`) evaluates by the operators' reference meaning.

    `device` is the kind of device that the target's code is to run on (`"cpu"`); None: the target says it.

    The interpreter stops after evaluating `step_limit` nodes (error `step-limit`, which names the functions that were
    entered most), tells `trace` of each node that has a value (`print` shows them), and runs operators as kernels of
    the target where `compiled_operators` is set.

    Raises `RelayError`: `unknown-executor` for another kind, `executor-option` for what only the interpreter can do,
    `wrong-device` for a target whose code runs elsewhere.

    >>> import numpy as np, relay
    >>> module = relay.parse('#[version = "0.0.5"] def @main(%n: int32) { if (%n < 1) { 1 } else { 2 * %n } }')
    >>> create_executor("interpreter", module, trace=print).evaluate()(np.int32(3))
    less, line 1 is False
    multiply, line 1 is 6
    array(6, dtype=int32)
    """
    expect(kind, TEXT, "the kind of an executor")
    if step_limit is not None:
        expect(step_limit, WHOLE_NUMBER, "the step limit of an executor")
    if trace is not None:
        expect(trace, CALLABLE, "the trace of an executor")
    expect(compiled_operators, FLAG, "`compiled_operators` of an executor")
    if kind not in KINDS:
        raise RelayError(
            rule="unknown-executor",
            message="there is no such executor",
            expected="one of " + ", ".join(KINDS),
            found=kind,
        )
    if device is not None:
        expect(device, TEXT, "the device of an executor")
        runs_on = targets_for(target).kernels.device_kind
        if device != runs_on:
            raise RelayError(
                rule="wrong-device", message="the code of the target runs on another device",
                expected=f"{runs_on}, where code for `{target}` runs", found=device,
                remedy="give the target of that device",
            )  # fmt: skip
    module, own = (IRModule(), {}) if mod is None else given_program(mod)
    options = InterpreterOptions(step_limit, trace, compiled_operators)
    if KINDS[kind] != "interpreter" and options != InterpreterOptions():
        raise RelayError(
            rule="executor-option",
            message=f"the executor {kind} takes no step_limit, trace or compiled_operators",
            remedy='run the program by create_executor("interpreter", …) to limit or trace it',
        )
    return Executor(KINDS[kind], module, target, {**own, **checked_params(params)}, opt_level, options)
