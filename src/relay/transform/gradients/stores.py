"""Programs without refs: what refs hold is a store that functions take and give (state passing).

    before: def @main(%x: float32) { let %r = ref(%x); %r := multiply(%r^, %x); %r^ }
    after:  def @main(%x: float32) {
              let %state = (0, Empty0);
              let %r = add(%state.0, 1); let %state1 = (%r, @set0(%state.1, %r, %x));
              let %v = @get0(%state1.1, %r);
              let %state2 = (%state1.0, @set0(%state1.1, %r, multiply(%v, %x)));
              @get0(%state2.1, %r)
            }

A ref is a number; for each type of what refs hold the state has how many there are, and a binary tree in which number
`n` hangs below `n / 2` (Braun 1983 numbers nodes so), so that a step costs the logarithm of how many refs there are.
Functions that touch refs, and choices in which something does, give the state beside their value. What is made is
calls, data and choices, which have derivatives of any order in both modes, wherever refs went: into data, closures,
functions, around loops. The program is typed and first order. Floating point: EXACT.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import field

from relay.analysis.call_graph import call_graph
from relay.arith.expr import Symbol
from relay.autodiff.chain import Chain
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen, mutable
from relay.base.names.fresh_names import FreshNames
from relay.base.span import Span
from relay.infer.infer_type import infer_type
from relay.ir.datatype import TypeData
from relay.ir.expr import (
    Call,
    Clause,
    Constructor,
    Expr,
    Function,
    GlobalVar,
    If,
    Let,
    Match,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
    const,
)
from relay.ir.module import IRModule
from relay.ir.sharing import Scope, Scopes, let_chain, scopes
from relay.ir.traversal import children, post_order, rebuild
from relay.ir.type_traversal import map_type, type_symbols
from relay.ir.types import ANY, FuncType, RefType, TensorType, TupleType, Type, TypeCall, scalar_type, type_parts
from relay.ir.variables import bound_vars
from relay.normalize.a_normal_form import to_a_normal_form
from relay.ops.elementwise.elementwise_binary import add
from relay.ops.manipulation.shape import reshape
from relay.ops.table import OPERATORS
from relay.text.module_parser import parse
from relay.transform.functions.remove_unused_functions import MAIN

_NUMBER = scalar_type("int32")
_STORE = """#[version = "0.0.5"]
type {store} {{ {store}Empty, {store}Cell({held}, {store}, {store}) }}
def @get_{name}(%s: {store}, %n: int32) -> {held} {{
  match (%s) {{
    {store}Cell(%v, %l, %r) =>
      if (%n == 1) {{ %v }}
      else {{ if (floor_mod(%n, 2) == 0) {{ @get_{name}(%l, floor_divide(%n, 2)) }}
              else {{ @get_{name}(%r, floor_divide(%n, 2)) }} }},
    {store}Empty => @get_{name}(%s, %n)
  }}
}}
def @set_{name}(%s: {store}, %n: int32, %new: {held}) -> {store} {{
  match (%s) {{
    {store}Cell(%v, %l, %r) =>
      if (%n == 1) {{ {store}Cell(%new, %l, %r) }}
      else {{ if (floor_mod(%n, 2) == 0) {{ {store}Cell(%v, @set_{name}(%l, floor_divide(%n, 2), %new), %r) }}
              else {{ {store}Cell(%v, %l, @set_{name}(%r, floor_divide(%n, 2), %new)) }} }},
    {store}Empty => {store}Cell(%new, {store}Empty, {store}Empty)
  }}
}}
"""
"""What refs of one type hold, by their numbers; every number that is asked for is there."""


def without_refs(module: IRModule) -> IRModule:
    """The program with a state in the places of its refs; the same one if it has none.

    Raises `RelayError` (rule `no-gradient`) where `@main` takes or gives refs (`given_refs.py` has made values of those
    that are parameters).
    """
    held = _held(module)
    if not held:
        return module
    main = module[MAIN].checked_type
    assert isinstance(main, FuncType)
    for each in (*main.arg_types, main.ret_type):
        if any(isinstance(part, RefType) for part in type_parts(each)):
            raise _from_outside(each, module[MAIN].span)
    return infer_type(_Passing(module, held).whole())


def _held(module: IRModule) -> list[Type]:
    """The types of what refs hold, each once."""
    types = (node.checked_type for each in module.functions.values() for node in post_order(each))
    fields = (each for made in module.constructors() for each in made.inputs)
    parts = (part for type_ in (*types, *fields) if type_ is not None for part in type_parts(type_))
    return list(dict.fromkeys(part.value for part in parts if isinstance(part, RefType)))


@frozen(eq=False)
class _Store:
    """The store of one type: its place in the state, and the functions that read and write it."""

    place: int
    header: TypeData
    get: GlobalVar
    set: GlobalVar


@mutable
class _Passing:
    """A program whose functions pass the state on. `stateful` are those that touch it."""

    module: IRModule
    held: Sequence[Type]
    stores: dict[Type, _Store] = field(default_factory=dict)
    created_types: Sequence[Type] = ()
    state: TupleType = field(init=False)
    stateful: set[GlobalVar] = field(init=False)
    constructors: dict[Constructor, Constructor] = field(default_factory=dict)

    def whole(self) -> IRModule:
        nodes = (node for each in self.module.functions.values() for node in post_order(each))
        made_refs = (self.type(_type(node.value)) for node in nodes if isinstance(node, RefCreate))
        self.created_types = tuple(dict.fromkeys(made_refs))
        types = {header: self._definition(each) for header, each in self.module.type_definitions.items()}
        made = IRModule({}, types)
        taken = {each.name_hint for each in self.module} | {each.name for each in types}
        names = FreshNames(taken.__contains__)
        for each in dict.fromkeys(map(self._stored, self.held)):
            made = self._with_store(made, each, names)
        fields = ((_NUMBER, TypeCall(each.header.header, ())) for each in self.stores.values())
        self.state = TupleType(tuple(part for pair in fields for part in pair))
        self.stateful = self._touching()
        functions = {name: self.function(name, each) for name, each in self.module.functions.items()}
        inner = GlobalVar(names.take("main_with_state"))
        main = functions[MAIN]
        if MAIN in self.stateful:
            functions[inner] = main
            params = tuple(Var(each.name_hint, each.type_annotation, span=each.span) for each in main.params[1:])
            body = TupleGetItem(Call(inner, (self._empty(), *params)), 0)
            functions[MAIN] = Function(params, body, span=main.span)
        return IRModule({**functions, **made.functions}, made.type_definitions)

    def _touching(self) -> set[GlobalVar]:
        graph = call_graph(self.module)
        found: set[GlobalVar] = set()
        waiting = [name for name, each in self.module.functions.items() if any(map(_touches, post_order(each)))]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += graph.callers(name)
        return found

    # ------------------------------------------------------------------------------------------------------- types

    def type(self, type_: Type) -> Type:
        """A type in which numbers stand for refs."""
        match type_:
            case RefType():
                return _NUMBER
            case TupleType(fields):
                return TupleType(tuple(map(self.type, fields)))
            case TypeCall(func, args):
                return TypeCall(func, tuple(map(self.type, args)))
            case _:
                return type_

    def _stored(self, type_: Type) -> Type:
        """What the store holds for a type: extents are numbers where all refs of such tensors are made with these."""
        open_ = _open(self.type(type_))
        alike = [each for each in self.created_types if _open(each) == open_]
        return alike[0] if len(alike) == 1 and not type_symbols(alike[0]) else open_

    def _definition(self, data: TypeData) -> TypeData:
        inputs = [tuple(map(self.type, each.inputs)) for each in data.constructors]
        for each, own in zip(data.constructors, inputs, strict=True):
            made = Constructor(each.name_hint, own, each.belong_to, each.tag, span=each.span)
            self.constructors[each] = each if own == each.inputs else made
        made = tuple(self.constructors[each] for each in data.constructors)
        return TypeData(data.header, data.type_vars, made, data.extern, data.span)

    # ------------------------------------------------------------------------------------------------------- state

    def _with_store(self, module: IRModule, held: Type, names: FreshNames) -> IRModule:
        place = len(self.stores)
        store, name = names.take(f"Store{place}"), names.take(f"cell{place}")
        made = parse(_STORE.format(store=store, name=name, held=held), OPERATORS, "a store")
        whole = IRModule({**module.functions, **made.functions}, {**made.type_definitions, **module.type_definitions})
        header = next(each for each in made.type_definitions.values() if each.header.name == store)
        self.stores[held] = _Store(place, header, *(GlobalVar(f"{way}_{name}") for way in ("get", "set")))
        return whole

    def _empty(self) -> Expr:
        fields = ((const(0, "int32"), Call(each.header.constructors[0], ())) for each in self.stores.values())
        return Tuple(tuple(part for pair in fields for part in pair))

    def created(self, chain: Chain, state: Expr, number: Var, value: Expr, type_: Type) -> Expr:
        """The state with one ref more, whose number is bound."""
        store = self._store(type_)
        count = Var("count", _NUMBER)
        chain.bindings += (count, TupleGetItem(state, 2 * store.place)), (number, add(count, const(1, "int32")))
        return self._changed(chain, state, store, number, value, number)

    def written(self, chain: Chain, state: Expr, ref: Expr, value: Expr, type_: Type) -> Expr:
        store = self._store(type_)
        return self._changed(chain, state, store, ref, value, TupleGetItem(state, 2 * store.place))

    def read(self, state: Expr, ref: Expr, type_: Type) -> Expr:
        store = self._store(type_)
        return Call(store.get, (TupleGetItem(state, 2 * store.place + 1), ref))

    def _store(self, type_: Type) -> _Store:
        assert isinstance(type_, RefType)
        return self.stores[self._stored(type_.value)]

    def _changed(self, chain: Chain, state: Expr, store: _Store, ref: Expr, value: Expr, count: Expr) -> Expr:
        at = 2 * store.place
        fields: list[Expr] = [TupleGetItem(state, each) for each in range(2 * len(self.stores))]
        fields[at : at + 2] = count, Call(store.set, (TupleGetItem(state, at + 1), ref, value))
        return _bound(chain, Tuple(tuple(fields)))

    # --------------------------------------------------------------------------------------------------- functions

    def function(self, name: GlobalVar, function: Function) -> Function:
        """A function that takes the state first and gives `(value, state)`, if it touches that."""
        normal = to_a_normal_form(function)
        touches = name in self.stateful
        known = {symbol for each in function.params for symbol in type_symbols(self.type(_type(each)))}
        new = {each: Var(each.name_hint, self.type(_type(each)), span=each.span) for each in function.params}
        for each in bound_vars(normal.body):
            annotation = each.type_annotation and self.type(each.type_annotation)
            stated = annotation is not None and known.issuperset(type_symbols(annotation))
            new[each] = Var(each.name_hint, annotation if stated else None, span=each.span)
        state = Var("state", self.state)
        body = _Body(self, new, scopes(normal.body), known, touches).whole(state)
        params = (state, *(new[each] for each in function.params)) if touches else tuple(map(new.get, function.params))
        result = function.checked_type.ret_type if isinstance(function.checked_type, FuncType) else None
        declared = result and self.type(result)
        if declared is not None and not known.issuperset(type_symbols(declared)):
            declared = map_type(declared, dimension=lambda each: each if isinstance(each, int) else ANY)
        if declared is not None and touches:
            declared = TupleType((declared, self.state))
        return Function(params, body, declared, function.type_params, function.attrs, span=function.span)  # type: ignore[arg-type]


@mutable
class _Body:
    """The scopes of one function body, inner ones first; `given` is the state where a scope begins."""

    passing: _Passing
    new: dict[Var, Var]
    scopes: Scopes
    known: Set[Symbol]
    is_stateful: bool
    given: dict[Scope, Var] = field(default_factory=dict)
    done: dict[Scope, tuple[Chain, Expr, Expr]] = field(default_factory=dict)

    def whole(self, state: Var) -> Expr:
        self.given[self.scopes.root] = state
        for scope in reversed(self.scopes.outermost_first()):
            self.done[scope] = self._scope(scope)
        chain, result, end = self.done[self.scopes.root]
        return chain.before(Tuple((result, end)) if self.is_stateful else result)

    def _scope(self, scope: Scope) -> tuple[Chain, Expr, Expr]:
        chain = Chain()
        state: Expr = self.given.setdefault(scope, Var("state"))
        lets, result = let_chain(scope.result)
        for let in lets:
            state = self._binding(let.var, let.value, state, chain)
        return chain, self._expr(result), state

    def _binding(self, var: Var, value: Expr, state: Expr, chain: Chain) -> Expr:
        """Write a binding; gives the state behind it."""
        own, passing = self.new[var], self.passing
        match value:
            case RefCreate(held):
                return passing.created(chain, state, own, self._expr(held), _type(var))
            case RefRead(ref):
                read = passing.read(state, self._expr(ref), _type(ref))
                chain.bindings.append((own, self._with_extents(read, passing.type(_type(var)))))
                return state
            case RefWrite(ref, held):
                chain.bindings.append((own, Tuple(())))
                return passing.written(chain, state, self._expr(ref), self._expr(held), _type(ref))
            case Call(op=GlobalVar() as name) if name in passing.stateful:
                arguments = tuple(map(self._expr, value.args))
                return self._both(chain, own, Call(name, (state, *arguments), span=value.span))
            case If() | Match() if any(self._touches(each) for each in self.scopes.inner(value)):
                return self._both(chain, own, self._choice(value, state, touches=True))
            case If() | Match():
                chain.bindings.append((own, self._choice(value, state, touches=False)))
                return state
            case _:
                chain.bindings.append((own, self._expr(value)))
                return state

    def _with_extents(self, read: Expr, type_: Type) -> Expr:
        """What was read, with the names that its extents have here."""
        symbols = set(type_symbols(type_))
        if isinstance(type_, TensorType) and symbols and symbols <= self.known:
            return reshape(read, type_.shape)
        return read

    def _both(self, chain: Chain, own: Var, made: Expr) -> Expr:
        pair = _bound(chain, made, "pair")
        chain.bindings.append((own, TupleGetItem(pair, 0)))
        return _bound(chain, TupleGetItem(pair, 1))

    def _touches(self, scope: Scope) -> bool:
        _, _, end = self.done[scope]
        return end is not self.given[scope]

    def _choice(self, choice: If | Match, state: Expr, touches: bool) -> Expr:
        branches: list[Expr] = []
        for scope in self.scopes.inner(choice):
            chain, result, end = self.done[scope]
            body = chain.before(Tuple((result, end)) if touches else result)
            branches.append(Let(self.given[scope], state, body) if self.is_stateful else body)
        if isinstance(choice, If):
            return rebuild(choice, (self._expr(choice.cond), *branches))
        patterns = (self._pattern(each.lhs) for each in choice.clauses)
        clauses = tuple(map(Clause, patterns, branches))
        return Match(self._expr(choice.data), clauses, choice.complete, span=choice.span)

    def _pattern(self, pattern: Pattern) -> Pattern:
        match pattern:
            case PatternVar(var):
                return PatternVar(self.new[var])
            case PatternConstructor(constructor, patterns):
                own = self.passing.constructors.get(constructor, constructor)
                return PatternConstructor(own, tuple(map(self._pattern, patterns)))
            case PatternTuple(patterns):
                return PatternTuple(tuple(map(self._pattern, patterns)))
            case _:
                return pattern

    def _expr(self, expr: Expr) -> Expr:
        """What touches no state, in terms of the new variables."""
        match expr:
            case Var():
                return self.new.get(expr, expr)
            case Constructor():
                return self.passing.constructors.get(expr, expr)
            case Call():
                parts = [self._expr(each) for each in children(expr)]
                return Call(parts[0], tuple(parts[1:]), expr.attrs, span=expr.span)
            case Tuple() | TupleGetItem():
                return rebuild(expr, [self._expr(each) for each in children(expr)])
            case _:
                return expr


def _open(type_: Type) -> Type:
    return map_type(type_, dimension=lambda _: ANY)


def _bound(chain: Chain, value: Expr, hint: str = "state") -> Expr:
    var = Var(hint)
    chain.bindings.append((var, value))
    return var


def _touches(node: Expr) -> bool:
    return isinstance(node, RefCreate | RefRead | RefWrite)


def _type(expr: Expr) -> Type:
    assert expr.checked_type is not None
    return expr.checked_type


def _from_outside(type_: Type, span: Span | None) -> RelayError:
    return RelayError(
        rule="no-gradient", message="a ref that others hold, too, is differentiated", found=f"a value of type {type_}",
        expected="refs that are made inside, or are parameters of their own", span=span,
        remedy="take what the ref holds, make a ref of it inside, and give what it holds in the end",
    )  # fmt: skip
