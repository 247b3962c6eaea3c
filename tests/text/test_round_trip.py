"""What is printed parses back to the same program; JSON too."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import relay
from relay.arith.expr import IntExpr, Symbol
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.ir.attributes import Attributes
from relay.ir.datatype import TypeData
from relay.ir.expr import (
    Call,
    Clause,
    Constant,
    Constructor,
    Function,
    GlobalVar,
    If,
    Let,
    Match,
    Op,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
    const,
)
from relay.ir.module import IRModule
from relay.ir.operator import Conflict, Operator
from relay.ir.structural import structural_equal, structural_hash
from relay.ir.types import (
    ANY,
    FuncType,
    GlobalTypeVar,
    RefType,
    TensorType,
    TupleType,
    TypeCall,
    TypeVar,
    scalar_type,
)
from relay.text.json import from_json, to_json
from relay.text.module_parser import parse, parse_expr
from relay.text.printer import astext
from tests.growth import is_linear


@frozen
class ReshapeAttributes(Attributes):
    newshape: tuple[IntExpr, ...] = ()
    axis: int | None = None
    epsilon: float = 1e-5
    out_dtype: DType | None = None
    layout: str = "NCHW"
    keep: bool = False
    pads: tuple[tuple[int, int], ...] = ()


def no_relation(types, attributes):
    return Conflict("none", "these operators are only written and read")


NAMES = "add subtract multiply divide less less_equal greater greater_equal equal not_equal negative nn.relu exp"
OPERATORS = {name: Operator(name, (), no_relation) for name in NAMES.split()}
OPERATORS["reshape"] = Operator("reshape", ("data",), no_relation, ReshapeAttributes)

LIST = GlobalTypeVar("List")
_a = TypeVar("a")
NIL = Constructor("Nil", (), LIST, 0)
CONS = Constructor("Cons", (_a, TypeCall(LIST, (_a,))), LIST, 1)
TYPES = {LIST: TypeData(LIST, (_a,), (NIL, CONS))}


def both_ways(function):
    module = IRModule({GlobalVar("main"): function, GlobalVar("other"): Function((), const(1))}, TYPES)
    text = astext(module)
    again = parse(text, OPERATORS)
    assert structural_equal(module, again), text
    assert structural_hash(module) == structural_hash(again)
    assert astext(again) == text
    stored = from_json(to_json(module), OPERATORS)
    assert structural_equal(stored, module)
    assert to_json(stored) == to_json(module)
    return text


# --------------------------------------------------------------------------------------- random programs

numbers = st.integers(-3, 3)
dtypes = st.sampled_from(list(DType))


@st.composite
def scalars(draw):
    dtype = draw(dtypes)
    if dtype.is_float:
        value = draw(st.sampled_from([0.0, -0.0, 1.5, -2.0, 1e-7, 65504.0, float("inf"), float("-inf"), float("nan")]))
        with np.errstate(all="ignore"):
            return Constant(np.asarray(value).astype(dtype.numpy))
    return Constant(np.asarray(draw(st.integers(0 if dtype.is_unsigned_integer else -1, 1))).astype(dtype.numpy))


@st.composite
def tensors(draw):
    shape = draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
    return Constant(np.zeros(shape, draw(dtypes).numpy))


class Context:
    """What a generated expression may use: variables in scope, type parameters, symbols."""

    def __init__(self, variables=(), type_vars=(), symbols=()):
        self.variables, self.type_vars, self.symbols = tuple(variables), tuple(type_vars), tuple(symbols)

    def with_vars(self, *variables):
        return Context((*self.variables, *variables), self.type_vars, self.symbols)


@st.composite
def dimensions(draw, context):
    symbol = draw(st.sampled_from(context.symbols)) if context.symbols else 5
    other = draw(st.sampled_from(context.symbols)) if context.symbols else 2
    choices = [3, 0, ANY, symbol, 2 * symbol + 1, symbol * other - 4, symbol // 2, (symbol + 1) % 3, -symbol]
    return draw(st.sampled_from(choices))


@st.composite
def types(draw, context, depth=2):
    kind = draw(st.integers(0, 7 if depth else 1))
    deeper = types(context, depth - 1)
    few = st.lists(deeper, max_size=3)
    match kind:
        case 0:
            return scalar_type(draw(dtypes))
        case 1 | 7:
            return TensorType(tuple(draw(st.lists(dimensions(context), max_size=3))), draw(dtypes))
        case 2:
            return TupleType(tuple(draw(few)))
        case 3:
            return RefType(draw(deeper))
        case 4:
            bound = TypeVar(draw(st.sampled_from(["a", "b"])))
            inner = Context((), (*context.type_vars, bound), context.symbols)
            return FuncType(tuple(draw(st.lists(types(inner, depth - 1), max_size=2))), bound, (bound,))
        case 5:
            return TypeCall(LIST, (draw(deeper),))
        case _:
            return draw(st.sampled_from(context.type_vars)) if context.type_vars else scalar_type("int32")


@st.composite
def new_vars(draw, context):
    name = draw(st.sampled_from(["x", "y", "input.1", "7", "_", "a b", 'q"uote', "é"]))
    return Var(name, draw(st.none() | types(context)))


@st.composite
def attributes(draw, context):
    return ReshapeAttributes(
        newshape=tuple(draw(st.lists(dimensions(context), max_size=3))),
        axis=draw(st.none() | numbers),
        epsilon=draw(st.sampled_from([1e-5, 0.5, float("inf"), 2.0])),
        out_dtype=draw(st.none() | dtypes),
        layout=draw(st.sampled_from(["NCHW", 'a"\\\n', "é"])),
        keep=draw(st.booleans()),
        pads=tuple(draw(st.lists(st.tuples(numbers, numbers), max_size=2))),
    )


@st.composite
def programs(draw, context, size):
    """An expression over the whole language. Shared nodes come from a pool of those built in the same scope."""
    pool = []

    def leaf():
        options = [const(1), draw(scalars()), draw(tensors()), GlobalVar("other"), Op(OPERATORS["nn.relu"]), CONS]
        return draw(st.sampled_from([*options, *context.variables, *pool]))

    def nested(inner, fuel):
        return draw(programs(inner, fuel))

    for _ in range(draw(st.integers(0, size))):
        kind = draw(st.integers(0, 12))
        match kind:
            case 0:
                node = Tuple(tuple(leaf() for _ in range(draw(st.integers(0, 3)))))
            case 1:
                node = TupleGetItem(leaf(), draw(st.integers(0, 3)))
            case 2 | 3:
                node = Call(Op(OPERATORS["add"]), (leaf(), leaf()))
            case 4:
                node = Call(Op(OPERATORS["reshape"]), (leaf(),), draw(attributes(context)))
            case 5:
                node = Call(leaf(), (leaf(),), None, tuple(draw(st.lists(types(context), max_size=2))))
            case 6:
                variable = TypeVar(draw(st.sampled_from(["a", "b"])))
                inside = Context(context.variables, (*context.type_vars, variable), context.symbols)
                params = tuple(draw(new_vars(inside)) for _ in range(draw(st.integers(0, 2))))
                result = draw(st.none() | types(inside))
                attrs = draw(
                    st.sampled_from([{}, {"Primitive": 1}, {"odd key": (1, "a", None, 0.5), "m": {"k": True}}])
                )
                node = Function(params, nested(inside.with_vars(*params), size - 1), result, (variable,), attrs)
            case 7:
                var = draw(new_vars(context))
                node = Let(var, leaf(), nested(context.with_vars(var), size - 1))
            case 8:
                node = If(leaf(), nested(context, size - 1), draw(st.sampled_from([leaf(), nested(context, size - 1)])))
            case 9:
                node = RefCreate(leaf())
            case 10:
                node = draw(st.sampled_from([RefRead(leaf()), RefWrite(leaf(), leaf())]))
            case 11:
                one, two = draw(new_vars(context)), draw(new_vars(context))
                clauses = (
                    Clause(PatternConstructor(CONS, (PatternVar(one), PatternWildcard())), leaf()),
                    Clause(PatternTuple((PatternVar(two),)), nested(context.with_vars(two), size - 1)),
                    Clause(PatternConstructor(NIL), leaf()),
                )
                node = Match(leaf(), clauses, draw(st.booleans()))
            case _:
                node = Call(NIL, ())
        pool.append(node)
    return pool[-1] if pool else leaf()


@st.composite
def functions(draw):
    n, m = Symbol("n"), Symbol(draw(st.sampled_from(["m", "n", "min"])))
    variable = TypeVar("a")
    context = Context((), (variable,), (n, m))
    first = Var("x", TensorType((n, m), DType.FLOAT32))
    params = (first, *(draw(new_vars(context)) for _ in range(draw(st.integers(0, 2)))))
    body = draw(programs(context.with_vars(*params), 5))
    return Function(params, body, draw(st.none() | types(context)), (variable,))


@settings(max_examples=100, deadline=None)
@given(functions())
def test_random_programs_come_back(function):
    both_ways(function)


# ------------------------------------------------------------------------------------------------ examples


@pytest.mark.parametrize("dtype", list(DType))
def test_scalars_of_every_type_come_back_bit_by_bit(dtype):
    raw = np.arange(256, dtype=np.uint8) if dtype.item_bytes == 1 else np.array([0, 1, 0x7FC0, 0x8000, 0x7F80], "<u2")
    if dtype is DType.BOOL:
        values = np.array([False, True])
    elif dtype.bits < 8:
        values = raw[: 1 << dtype.bits].view(dtype.numpy)
    elif dtype.item_bytes <= 2:
        values = raw.view(dtype.numpy)
    else:
        with np.errstate(all="ignore"):
            special = [0.0, -0.0, 0.1, -1e-30, 3e38, np.inf, -np.inf, np.nan] if dtype.is_float else [0, 1, 77]
            values = np.array(special, dtype.numpy)
    for value in values:
        constant = Constant(np.asarray(value))
        text = astext(constant)
        assert structural_equal(parse_expr(text, {}), constant), text


def test_a_nan_with_a_payload_goes_to_the_metadata():
    odd = np.array(0x7FC00001, np.uint32).view(np.float32)
    assert "meta[relay.Constant][0]" in both_ways(Function((), Constant(odd)))


def test_a_recursive_function_that_is_shared_is_numbered_where_it_is_bound():
    f, x = Var("f"), Var("x")
    loop = Function((x,), Call(f, (x,)))
    text = both_ways(Function((), Let(f, loop, Tuple((f, loop)))))
    assert "let %f = %0 = fn (%x) {" in text


def test_a_shared_let_may_be_what_a_branch_is_worth():
    y = Var("y")
    let = Let(y, const(1), Tuple((y,)))
    both_ways(Function((), If(TupleGetItem(let, 0), let, const(2))))
    both_ways(Function((), Tuple((If(const(True), let, Let(Var("z"), const(3), let)), let))))


def test_text_without_metadata_says_what_is_missing():
    text = astext(IRModule.from_expr(Constant(np.ones(3))), show_meta_data=False)
    assert "#[metadata]" not in text
    with pytest.raises(Exception, match="show_meta_data=True"):
        parse(text, {})


def test_long_programs_are_linear():
    def chain(length):
        lines = ["  %0 = nn.relu(%x);", *(f"  %{i} = add(%{i - 1}, %x);" for i in range(1, length))]
        lines += [f"  let %a{i} = nn.relu(%{length - 1});" for i in range(length)]
        return f'#[version = "0.0.5"]\ndef @main(%x: float32) {{\n{chr(10).join(lines)}\n  %a0\n}}\n'

    def round_trips(length):
        text = chain(length)
        assert astext(parse(text, OPERATORS)) == text
        nested = parse_expr("free_var %x;" + "nn.relu(" * length + "%x" + ")" * length, OPERATORS)
        assert structural_equal(parse_expr(astext(nested), OPERATORS), nested, map_free_vars=True)
        branches = parse_expr("free_var %x;" + "if (%x) { 1 } else {" * length + "2" + "}" * length, OPERATORS)
        assert structural_equal(parse_expr(astext(branches), OPERATORS), branches, map_free_vars=True)

    round_trips(8_000)
    assert is_linear(round_trips, 300)


def test_json_whose_variable_nothing_binds_is_refused():
    module = relay.parse('#[version = "0.0.5"]\ndef @main(%x: float32) { %x }')
    params = module["main"].params
    text = relay.save_json(module.with_function("main", relay.Function(params, relay.var("y"))))
    with pytest.raises(relay.RelayError, match="%y is used, and nothing binds it"):
        relay.load_json(text)
