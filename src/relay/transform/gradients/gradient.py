"""Gradients under the names that Relay has published: of a function as one function, of all functions of a module.

before: def @f(%x: float32) { multiply(%x, %x) }
after:  def @f(%x: float32) { ...; (%v0, (%d_x,)) }                                            FirstOrderGradient

before: add(multiply(%x, ones(shape=[3])), zeros(shape=[3]))        after: %x                  LazyGradientInit
"""

from __future__ import annotations

from relay.analysis.call_graph import call_graph
from relay.base.arguments import expect
from relay.base.diagnostics import RelayError
from relay.base.floating_point import FloatingPointClass
from relay.base.names.fresh_names import FreshNames
from relay.base.span import caller_span
from relay.dataflow import Domain, Rule, RuleSet, is_op, rule, wildcard
from relay.infer.infer_type import infer_type
from relay.ir.expr import EXPRESSION, Call, Expr, Function, GlobalVar, Var
from relay.ir.known_types import known_type
from relay.ir.module import IRModule
from relay.ir.rewriting import renamed_functions, with_body
from relay.ops.transformations import VALUE_AND_GRAD, called
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import Pass, function_pass, module_pass
from relay.transform.functions.remove_unused_functions import MAIN
from relay.transform.gradients.apply_transformations import with_derivatives
from relay.transform.gradients.derivatives import derivative


def gradient(expr: Expr, mod: IRModule | None = None, mode: str = "higher_order") -> Function:
    """The function that gives the value of `expr` and its gradient: `fn (args) -> (value, (gradients,))`, as Relay
    has it. `expr` is a function, or the name of one in `mod`; both modes mean the same.

    Raises `RelayError`: those of `derivative`, and `needs-module` where the gradient takes functions or data
    types of its own: ask for that of a module then, `relay.value_and_grad(module)`.
    """
    expect(expr, EXPRESSION, "what is differentiated")
    if mode not in ("higher_order", "first_order"):
        raise RelayError(
            rule="wrong-argument", message="no such mode of differentiation", found=repr(mode), span=caller_span(),
            expected="higher_order or first_order",
        )  # fmt: skip
    module = mod or IRModule()
    function = module[expr] if isinstance(expr, GlobalVar) else expr
    before = IRModule.from_expr(function).functions[MAIN]
    applied = with_derivatives(infer_type(module.with_function(MAIN, before)))
    made = derivative(applied, VALUE_AND_GRAD, range(len(before.params)))
    own = [name for name in made if name not in module and name != MAIN]
    if own:
        raise RelayError(
            rule="needs-module", message="the gradient takes functions of its own", span=caller_span(),
            found=", ".join(f"@{name.name_hint}" for name in own), remedy="relay.value_and_grad(module) has them",
        )  # fmt: skip
    return made[MAIN]


def FirstOrderGradient() -> Pass:
    """The pass after which every function gives its value and its gradient, as `gradient` of each. It changes what a
    program means, so no level has it.

    The pass raises `RelayError`: `no-gradient`, `generic-function`.

    >>> import relay
    >>> x = relay.var("x", shape=())
    >>> print(FirstOrderGradient()(IRModule.from_expr(relay.Function([x], x * x)))["main"].checked_type)
    fn (float32) -> (float32, (float32,))
    """

    @module_pass(name="FirstOrderGradient", level=0)
    def first_order_gradient(module: IRModule, context: PassContext) -> IRModule:  # noqa: ARG001
        """Let every function give its value and its gradient."""
        names = FreshNames(module.__contains__, "_", 0)
        primal = {name: GlobalVar(names.take(f"{name.name_hint}_alone")) for name in module}
        functions = renamed_functions(module.functions, primal)
        for name, function in module.functions.items():
            params = tuple(Var(each.name_hint, known_type(each), span=each.span) for each in function.params)
            call = Call(called(VALUE_AND_GRAD, primal[name], None), params, span=function.span)
            functions[name] = Function(params, call, span=function.span)
        derived = with_derivatives(infer_type(module.with_functions(functions)))
        reached = call_graph(derived).reachable(list(module.functions))
        return derived.with_functions({name: derived[name] for name in reached})

    return first_order_gradient


def LazyGradientInit() -> Pass:
    """The pass that takes away sums with tensors of zeros and products with tensors of ones, which hand-written
    gradients begin with. Those that relay derives have no such zeros. A sum of -0.0 and 0.0 is 0.0, after it -0.0.

    >>> import relay
    >>> x = relay.var("x", shape=(3,))
    >>> module = IRModule.from_expr(relay.Function([x], x * relay.ones((3,), "float32") + relay.zeros((3,), "float32")))
    >>> LazyGradientInit()(module)["main"].body.name_hint
    'x'
    """

    @function_pass(name="LazyGradientInit", level=2, floating_point=FloatingPointClass.FAST_MATH)
    def lazy_gradient_init(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
        """Take away sums with zeros and products with ones."""
        return with_body(function, NEUTRAL_GRADIENTS.apply(function.body, _FAST_MATH_LEVEL))

    return lazy_gradient_init


def _neutral(name: str, number: str) -> list[Rule]:
    """The rules that an operator with a tensor of one number is the other input, on either side."""
    x = wildcard()
    filled = (is_op(number)(), is_op(f"{number}_like")(wildcard()))
    pairs = (pair for each in filled for pair in ((x, each), (each, x)))
    return [
        rule(f"{name}-{number}-{at}", is_op(name)(*pair), x, domain=Domain.FLOATS, floating_point=_FAST_MATH)
        for at, pair in enumerate(pairs)
    ]


_FAST_MATH = FloatingPointClass.FAST_MATH
_FAST_MATH_LEVEL = 4
NEUTRAL_GRADIENTS = RuleSet((*_neutral("add", "zeros"), *_neutral("multiply", "ones")))
