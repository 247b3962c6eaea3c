"""Every rewriting rule over integers and truth values holds for all of them: proven by z3, or run on all of them.

Rules are found by themselves: one for which there is no proof fails here, with words that say what to add. What rules
over floats may change is in `tests/transform/test_simplify_rules.py` and `tests/tir/test_interpreter.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import z3

import relay
from relay.arith.rules import RULES
from relay.arith.rules import Rule as IndexRule
from relay.base.dtypes import DType
from relay.base.floating_point import FloatingPointClass
from relay.dataflow.rules import Domain, Rule, RuleSet, domain_of
from relay.infer.infer_type import infer_type_expr
from relay.ir.expr import Expr, Function, Var
from relay.ops.framework.build import call
from relay.ops.table import OPERATORS
from relay.tir.passes import value_rules
from relay.tir.passes.value_rules import VALUE_RULES, ValueRule
from tests.rules.formulas import Formulas, IndexFormulas, claims_of_equality, dtype_of, shape_of, value_formula
from tests.rules.machine_integers import BINARY, UNARY, Formula, NotModelled, is_always, number, unknown
from tests.transform.test_simplify_rules import RULE_SETS, samples_of

SRC = Path(relay.__file__).parent
INTEGERS = (
    DType.INT8, DType.INT16, DType.INT32, DType.INT64, DType.UINT8, DType.UINT16, DType.UINT32, DType.UINT64,
)  # fmt: skip
SMALL = (DType.BOOL, DType.INT2, DType.INT4, DType.INT8, DType.INT16, DType.UINT8, DType.UINT16)
ON_INTEGERS = Domain.INTEGERS | Domain.BOOLS
WITH_INTEGERS = [each for rules in RULE_SETS for each in rules.rules if each.domain & ON_INTEGERS]
EXHAUSTIVE = {
    "clip-of-clip": "bounds are rounded to the dtype",
    "cast-of-cast": "it may lead through floats",
    "cast-like": "it may lead to floats",
}
"""Rules that are run on all values of the dtypes of at most 16 bits, and why they are not (only) formulas."""


def _clamped(value: Formula, low: Formula, high: Formula) -> Formula:
    raised = z3.If(value < low, low, value)
    return z3.If(raised > high, high, raised)


def _clips(x: Formula, a: Formula, b: Formula, c: Formula, d: Formula) -> Formula:
    twice = _clamped(_clamped(x, a, b), c, d)
    return z3.Implies(z3.And(a <= b, c <= d), twice == _clamped(x, _clamped(a, c, d), _clamped(b, c, d)))


STATEMENTS: Mapping[str, Callable[..., Formula]] = {
    "add-constants": lambda x, c, d, *_: (x + c) + d == x + (c + d),
    "multiply-constants": lambda x, c, d, *_: (x * c) * d == x * (c * d),
    "clip-of-clip": _clips,
}
"""Rules whose right side computes with constants: for all of these. Their samples have but some."""


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_rules_of_indices(rule: IndexRule) -> None:
    formulas = IndexFormulas()
    claim = formulas.of(rule.left) == formulas.of(rule.right)
    when = [formulas.holds(each) for each in rule.when]
    assert is_always(z3.Implies(z3.And(*formulas.facts, *when), claim))


@pytest.mark.parametrize("rule", VALUE_RULES, ids=lambda rule: rule.name)
def test_rules_of_values_in_kernels(rule: ValueRule) -> None:
    kinds = {value_rules.Domain.INTEGERS: INTEGERS, value_rules.Domain.BOOLS: (DType.BOOL,)}
    for dtype in (each for domain in rule.domains for each in kinds.get(domain, ())):
        assert is_always(value_formula(rule.left, dtype) == value_formula(rule.right, dtype)), dtype


@pytest.mark.parametrize("rule", WITH_INTEGERS, ids=lambda rule: rule.name)
def test_rules_of_the_language(rule: Rule) -> None:
    """On samples of every dtype: both sides as formulas, or run on all values."""
    assert rule.floating_point is FloatingPointClass.EXACT or rule.domain & Domain.FLOATS
    proven: set[Domain] = set()
    for dtype in DType:
        if not domain_of(dtype) & rule.domain & ON_INTEGERS:
            continue
        for params, body, simplified in rewritten(rule, dtype):
            try:
                formulas = Formulas(params)
                for claim in claims_of_equality(formulas.of(body), formulas.of(simplified)):
                    assert is_always(claim), f"{rule.name} on {dtype}: {claim}"
            except NotModelled as reason:
                if rule.name not in EXHAUSTIVE:
                    raise AssertionError(f"no proof of `{rule.name}` on {dtype}: {reason}") from reason
                if dtype not in SMALL:
                    continue
                check_on_all_values(params, body, simplified, dtype)
            proven.add(domain_of(dtype))
    missing = (rule.domain & ON_INTEGERS) & ~Domain(sum(each.value for each in proven))
    assert not missing or rule.domain is Domain.ANYTHING, (
        f"`{rule.name}` says that it is for {missing}, and no sample of tests/transform/rule_samples.py shows it there"
    )
    assert proven


def rewritten(rule: Rule, dtype: DType) -> list[tuple[tuple[Var, ...], Expr, Expr]]:
    """The samples of a rule on which it fires: parameters, and the expression before and after."""
    alone, found = RuleSet([rule]), []
    for sample in samples_of(rule):
        try:
            params, body = sample(dtype)
        except relay.RelayError:
            continue  # the operator is not for these elements
        body = infer_type_expr(body)
        simplified = alone.apply(body, rule.level)
        if simplified is not body:
            found.append((params, body, infer_type_expr(simplified)))
    return found


def check_on_all_values(params: tuple[Var, ...], body: Expr, simplified: Expr, dtype: DType) -> None:
    """Of the first parameter, which may be of any length; what others hold is nothing that these rules look at."""
    first, *others = params
    values = all_values(dtype)
    longer = Var(first.name_hint, relay.TensorType(values.shape, dtype))
    rest = [np.zeros(shape_of(each), dtype_of(each).numpy) for each in others]

    def run(expr: Expr) -> np.ndarray:
        function = Function((longer, *others), relay.bind(expr, {first: longer}))
        return relay.create_executor("interpreter").evaluate(function)(values, *rest)

    left, right = run(body), run(simplified)
    assert left.dtype == right.dtype
    assert np.array_equal(left, right, equal_nan=dtype_of(body).is_float)


def all_values(dtype: DType) -> np.ndarray:
    if dtype.is_bool:
        return np.array([False, True])
    limits = ml_dtypes.iinfo(dtype.numpy)
    return np.arange(int(limits.min), int(limits.max) + 1).astype(dtype.numpy)


@pytest.mark.parametrize("name", STATEMENTS)
def test_rules_with_constants(name: str) -> None:
    assert name in {each.name for each in WITH_INTEGERS}
    for width in (8, 16, 32, 64):
        assert is_always(STATEMENTS[name](*z3.BitVecs("x a b c d", width)))


def test_every_set_of_rules_is_in_the_proofs() -> None:
    """Where a `RuleSet` is made, in the source."""
    makes = re.compile(r"^(?! *>>>).*= RuleSet\(", re.MULTILINE)
    made = sorted(str(path.relative_to(SRC)) for path in SRC.rglob("*.py") if makes.search(path.read_text()))
    assert made == ["transform/gradients/gradient.py", "transform/simplify/simplify_expr.py"], (
        "there is a set of rewriting rules that nothing proves: add it to RULE_SETS in "
        "tests/transform/test_simplify_rules.py, and its file here"
    )


def test_a_rule_without_proof_is_refused() -> None:
    x = relay.dataflow_pattern.wildcard()
    popcount = relay.dataflow_pattern.is_op("logical_xor")(x, x)
    new = relay.dataflow_pattern.rule("new-rule", popcount, x, domain=Domain.BOOLS)
    with pytest.raises(AssertionError, match="no proof of `new-rule` on bool: `logical_xor` has no formula: add it to"):
        test_rules_of_the_language(new)


def test_a_wrong_rule_is_refused() -> None:
    x = relay.dataflow_pattern.wildcard()
    wrong = relay.dataflow_pattern.rule(
        "abs-is-positive", relay.dataflow_pattern.is_op("maximum")(relay.dataflow_pattern.is_op("abs")(x), x), x,
        domain=Domain.INTEGERS,
    )  # fmt: skip
    with pytest.raises(AssertionError, match="abs-is-positive on int2"):
        test_rules_of_the_language(wrong)


NAMES = [*(each for each in BINARY if each != "power"), *UNARY]


@pytest.mark.parametrize("dtype", [DType.INT8, DType.UINT8, DType.BOOL])
@pytest.mark.parametrize("name", NAMES)
def test_formulas_are_what_operators_mean(name: str, dtype: DType) -> None:
    """On pairs of 8-bit numbers, by the operators' own meanings; of each number with those that are not like others."""
    record = OPERATORS[name]
    special = np.array([0, 1, 2, 3, 7, 8, 9, 127, -1, -2, -7, -128]).astype(dtype.numpy)
    pairs = np.array(np.meshgrid(all_values(dtype), special)).reshape(2, -1)[: 2 if name in BINARY else 1]
    vectors = [relay.var(each, shape=(pairs.shape[1],), dtype=dtype) for each in "xy"[: len(pairs)]]
    try:
        function = Function(tuple(vectors), call(record, vectors, record.attributes()))
    except relay.RelayError:
        return  # the operator is not for these elements
    meant = relay.create_executor("interpreter").evaluate(function)(*pairs)
    unknowns = [unknown(each, dtype) for each in "xy"[: len(pairs)]]
    formula = BINARY[name](*unknowns, dtype) if name in BINARY else UNARY[name](*unknowns, dtype)
    for at, value in enumerate(meant):
        put = [(var, number(numbers[at], dtype)) for var, numbers in zip(unknowns, pairs, strict=True)]
        assert z3.simplify(z3.substitute(formula, *put)).eq(number(value, dtype)), pairs[:, at]
