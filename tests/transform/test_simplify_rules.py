"""Every rule of SimplifyExpr against its stated class: on small exact values and special floats, over element types.

EXACT: bit for bit, NaN where there was NaN. ROUNDING: on finite inputs, unless a side overflows, within a few units in
the last place of the largest number involved; otherwise the same infinities and NaN. FAST_MATH: the same, on inputs
whose result is an ordinary number.
"""

from __future__ import annotations

import numpy as np
import pytest
from ml_dtypes import finfo, iinfo

import relay
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.floating_point import FloatingPointClass
from relay.dataflow.patterns import CallPattern, LiteralPattern, OpPattern, Pattern, Wildcard
from relay.dataflow.rules import Domain, Rule, RuleSet, domain_of
from relay.infer.infer_type import infer_type_expr
from relay.ir.expr import Expr, Function, Var
from relay.ops.framework.build import call
from relay.ops.table import OPERATORS
from relay.transform.gradients.gradient import NEUTRAL_GRADIENTS
from relay.transform.simplify.simplify_expr import SIMPLIFICATIONS
from tests.transform.rule_samples import SAMPLES, Sample

ULPS = 4
RULE_SETS = (SIMPLIFICATIONS, NEUTRAL_GRADIENTS)
"""All sets of rewriting rules that there are."""
ALL_RULES = [each for rules in RULE_SETS for each in rules.rules]


def samples_of(rule: Rule) -> list[Sample]:
    """Expressions on which a rule fires."""
    return SAMPLES.get(rule.name) or [read_off(rule)]


def read_off(rule: Rule) -> Sample:
    """The left side as an expression of vectors."""

    def made(dtype: DType) -> tuple[tuple[Var, ...], Expr]:
        variables: dict[Pattern, Var] = {}

        def expression(pattern: Pattern) -> Expr:
            match pattern:
                case Wildcard():
                    name = f"x{len(variables)}"
                    return variables.setdefault(pattern, relay.var(name, shape=(64,), dtype=dtype))
                case LiteralPattern(value):
                    return relay.const(np.asarray(value).astype(dtype.numpy))
                case CallPattern(OpPattern(name), args) if args is not None:
                    return call(OPERATORS[name], [expression(arg) for arg in args], OPERATORS[name].attributes())
                case _:
                    raise AssertionError(f"give {rule.name} samples: it has a {type(pattern).__name__}")

        body = expression(rule.left)
        return tuple(variables.values()), body

    return made


def values(dtype: DType, shape: tuple[object, ...]) -> np.ndarray:
    """Special and ordinary values of an element type, as many as the shape wants."""
    if dtype.is_bool:
        interesting: list[float] = [0, 1]
    elif dtype.is_integer:
        limits = iinfo(dtype.numpy)
        small = range(max(-9, int(limits.min)), min(10, int(limits.max)))
        interesting = [*small, int(limits.min), int(limits.max), int(limits.max) - 1, int(limits.max) // 2]
    else:
        limits = finfo(dtype.numpy)
        edges = [float(limits.max), float(limits.smallest_normal), float(limits.smallest_subnormal), float(limits.eps)]
        ordinary = [1, 2, 3, 0.5, 0.75, 5.5, 7, 10, 100, 1e-2]
        positive = [0.0, *ordinary, *edges, float(limits.smallest_normal) * 1.5, float("inf")]
        interesting = [float("nan"), *positive, *(-number for number in positive)]
    count = int(np.prod([extent if isinstance(extent, int) else 64 for extent in shape]))
    flat = np.resize(np.array(interesting, dtype=object), count)
    with np.errstate(all="ignore"):
        array = np.array([int(v) if dtype.is_integer else v for v in flat]).astype(dtype.numpy)
    return array.reshape([extent if isinstance(extent, int) else 64 for extent in shape])


def evaluated(params: tuple[Var, ...], body: Expr, arguments: list[np.ndarray]) -> np.ndarray:
    function = Function(params, body)
    return np.asarray(relay.create_executor("interpreter").evaluate(function)(*arguments))


def check(rule: Rule, left: np.ndarray, right: np.ndarray, arguments: list[np.ndarray]) -> None:
    assert left.dtype == right.dtype
    assert left.shape == right.shape
    kind = rule.floating_point
    if "float" not in left.dtype.name or kind is FloatingPointClass.EXACT:
        same = left.tobytes() == right.tobytes()
        wide_left, wide_right = left.astype(np.float64), right.astype(np.float64)
        nan = np.isnan(wide_left)
        signs = np.signbit(wide_left) == np.signbit(wide_right)
        assert same or (np.isnan(wide_right) == nan).all()
        assert same or ((wide_left == wide_right) & signs)[~nan].all()
        return
    limits = finfo(left.dtype)
    one, other = left.astype(np.float64), right.astype(np.float64)
    inputs = [argument.astype(np.float64) for argument in arguments]
    finite_inputs = np.logical_and.reduce([np.isfinite(each) for each in inputs])
    finite = np.isfinite(one) & np.isfinite(other)
    if kind is FloatingPointClass.FAST_MATH:
        ordinary = finite & finite_inputs & np.logical_and.reduce([each != 0 for each in inputs])
        assert ordinary.any()
    else:
        ordinary = finite
        agree = (one == other) | (np.isnan(one) & np.isnan(other))
        assert agree[~finite & ~finite_inputs].all()
        overflowed = ~finite & finite_inputs & ~agree
        biggest = np.maximum.reduce([np.abs(each) for each in inputs])
        assert (biggest[overflowed] >= float(limits.max) / 1000).all()
    size = np.maximum.reduce([*(np.abs(each) for each in inputs), np.abs(one)])[ordinary]
    bound = ULPS * (float(limits.eps) * size + float(limits.smallest_subnormal))
    assert (np.abs(one - other)[ordinary] <= bound).all()


def dtypes_of(rule: Rule) -> list[DType]:
    return [dtype for dtype in DType if domain_of(dtype) & rule.domain]


@pytest.mark.parametrize("rule", ALL_RULES, ids=lambda rule: rule.name)
def test_a_rule_is_as_exact_as_it_says(rule: Rule) -> None:
    alone = RuleSet([rule])
    fired: set[Domain] = set()
    for dtype in dtypes_of(rule):
        for sample in samples_of(rule):
            try:
                params, body = sample(dtype)
            except RelayError:
                continue  # the operator is not for these elements
            body = infer_type_expr(body)
            simplified = alone.apply(body, rule.level)
            if simplified is body:
                continue
            fired.add(domain_of(dtype))
            assert alone.apply(body, rule.level - 1) is body
            arguments = [values(p.checked_type.dtype, p.checked_type.shape) for p in params]
            with np.errstate(all="ignore"):
                check(rule, evaluated(params, body, arguments), evaluated(params, simplified, arguments), arguments)
    wanted = {kind for kind in (Domain.INTEGERS, Domain.FLOATS) if kind & rule.domain} or {Domain.BOOLS}
    assert wanted <= fired


def test_rules_have_names_of_their_own() -> None:
    names = [rule.name for rule in ALL_RULES]
    assert len(set(names)) == len(names)
    assert set(SAMPLES) <= set(names)
