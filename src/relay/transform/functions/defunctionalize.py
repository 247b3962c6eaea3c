"""Make functions that are values into data: Defunctionalization (Reynolds 1972; Danvy and Nielsen 2001).

    before: def @main(%x: float32, %c: bool) {
              let %f = if (%c) { fn (%y: float32) { add(%x, %y) } } else { @square };
              %f(%x)
            }
    after:  type Closure0 { Main_fn(float32), Square }
            def @main(%x: float32, %c: bool) { let %f = if (%c) { Main_fn(%x) } else { Square }; @apply0(%f, %x) }
            def @main_fn(%x: float32, %y: float32) { add(%x, %y) }
            def @apply0(%f: Closure0, %a0: float32) {
              match (%f) { Main_fn(%x) => @main_fn(%x, %a0), Square => @square(%a0) }
            }

For each type of functions that are values there is a data type, with a constructor for each function that may be such a
value and what it takes along, and a function `@applyN` that calls what the data stands for. First generic functions are
copied for their types (`Monomorphize`) and inner functions made global (`LambdaLift`). Afterwards the program is first
order. Refused: a data type that holds functions of its own type parameters, and functions that `@main` takes or gives.
Floating point: EXACT.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import field
from typing import cast

from relay.base.diagnostics import CompilerBug, RelayError
from relay.base.frozen import frozen
from relay.ir.datatype import TypeData
from relay.ir.expr import (
    Call,
    Clause,
    Constructor,
    Expr,
    Function,
    GlobalVar,
    Match,
    Op,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    Var,
)
from relay.ir.module import IRModule
from relay.ir.traversal import body_nodes, children, rebuild
from relay.ir.type_traversal import type_symbols
from relay.ir.types import FuncType, GlobalTypeVar, RefType, TupleType, Type, TypeCall, TypeVar, type_parts
from relay.ir.variables import bound_vars, renaming
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import module_pass
from relay.transform.functions.eta_expand import EtaExpand
from relay.transform.functions.lambda_lift import LambdaLift
from relay.transform.functions.monomorphize import Monomorphize
from relay.transform.functions.remove_unused_functions import MAIN, RemoveUnusedFunctions


@module_pass(level=1)
def Defunctionalization(module: IRModule, context: PassContext) -> IRModule:  # noqa: ARG001
    """Make functions that are values into data."""
    if _is_without_functions(module):
        return module
    prepared = module
    for each in (RemoveUnusedFunctions, EtaExpand(expand_global_var=False), Monomorphize, LambdaLift):
        prepared = each(prepared)
    data = _Data(prepared)
    functions = {name: data.first_order(name, function) for name, function in prepared.functions.items()}
    if not data.families:
        return module
    functions.update((family.apply, family.applying()) for family in data.families.values())
    definitions = (*data.definitions.values(), *(family.definition() for family in data.families.values()))
    return IRModule(functions, {each.header: each for each in definitions})


@frozen(eq=False)
class _Family:
    """The functions that are values of one type: which they are, and what each takes along."""

    header: GlobalTypeVar
    apply: GlobalVar
    type: FuncType
    taken: set[str]  # names of constructors
    constructors: dict[GlobalVar, Constructor] = field(default_factory=dict)

    def constructor(self, name: GlobalVar, captures: tuple[Type, ...]) -> Constructor:
        known = self.constructors.get(name)
        if known is None:
            title = _fresh(name.name_hint[:1].upper() + name.name_hint[1:], self.taken)
            self.taken.add(title)
            known = self.constructors[name] = Constructor(title, captures, self.header, len(self.constructors))
        return known

    def definition(self) -> TypeData:
        return TypeData(self.header, (), tuple(self.constructors.values()))

    def applying(self) -> Function:
        """The function that calls what a value stands for."""
        itself = Var("f", TypeCall(self.header, ()))
        arguments = tuple(Var(f"a{position}", type_) for position, type_ in enumerate(self.type.arg_types))
        clauses: list[Clause] = []
        for name, constructor in self.constructors.items():
            captures = tuple(Var(f"c{position}") for position in range(len(constructor.inputs)))
            pattern = PatternConstructor(constructor, tuple(map(PatternVar, captures)))
            clauses.append(Clause(pattern, Call(name, (*captures, *arguments))))
        never = Call(self.apply, (itself, *arguments))  # there is no such function, so nothing can be called with one
        return Function((itself, *arguments), Match(itself, tuple(clauses)) if clauses else never, self.type.ret_type)


class _Data:
    """The data types that stand for functions, and the program in their terms."""

    def __init__(self, module: IRModule) -> None:
        self.module = module
        self.families: dict[FuncType, _Family] = {}
        self.taken = {each.name_hint for each in module.constructors()}
        self.constructors: dict[Constructor, Constructor] = {}
        self.definitions = {header: self._definition(each) for header, each in module.type_definitions.items()}

    def first_order(self, name: GlobalVar, function: Function) -> Function:
        """A function without functions as values; the same one if it has none."""
        made = _closure(function)
        if made is not None:
            function = Function((*function.params, *made.params), made.body, span=function.span)
        elif not self.constructors and _is_first_order(function):
            return function
        if name == MAIN:
            self._check_main(function)
        fresh = {var: self._variable(var, var in function.params) for var in bound_vars(function)}
        renamed = renaming(fresh)
        new: dict[Expr, Expr] = {}
        for node in body_nodes(function):
            new[node] = renamed(self._node(node, [new[child] for child in children(node)]))
        params = tuple(fresh[each] for each in function.params)
        body = self._value(function.body, new[function.body])
        return Function(params, body, self._result_type(made or function), span=function.span)

    def _node(self, node: Expr, parts: list[Expr]) -> Expr:
        match node:
            case Call(op=callee):
                arguments = tuple(map(self._value, node.args, parts[1:]))
                return self._call(node, callee, parts[0], arguments)
            case Match(_, clauses, complete):
                data, *bodies = map(self._value, children(node), parts)
                patterns = (self._pattern(clause.lhs) for clause in clauses)
                return Match(data, tuple(map(Clause, patterns, bodies)), complete, span=node.span)
            case Function(attrs=attrs) if not attrs:
                raise _refusal(f"a function of type {node.checked_type} has the extents of the function around it")
            case _:
                return rebuild(node, list(map(self._value, children(node), parts)))

    def _call(self, call: Call, callee: Expr, new: Expr, arguments: tuple[Expr, ...]) -> Expr:
        match callee:
            case GlobalVar() if callee in self.module:
                made = _closure(self.module[callee])
                if made is None:
                    return Call(callee, arguments, span=call.span)
                captures = tuple(self._type(each.checked_type) for each in self.module[callee].params)
                if any(
                    isinstance(part, RefType) and type_symbols(part) for each in captures for part in type_parts(each)
                ):
                    raise _refusal(f"@{callee.name_hint} takes along a ref to what has the extents of its caller")
                constructor = self._family(made.checked_type).constructor(callee, captures)
                return Call(constructor, arguments, span=call.span)
            case Call(op=GlobalVar() as maker) if maker in self.module and _closure(self.module[maker]) is not None:
                return Call(maker, (*cast("Call", new).args, *arguments), span=call.span)
            case Constructor():
                types = tuple(map(self._type, call.given_type_args))
                return Call(self.constructors.get(callee, callee), arguments, None, types, span=call.span)
            case Op() | Function():
                return Call(callee, arguments, call.attrs, call.given_type_args, span=call.span)
            case _:
                apply = self._family(callee.checked_type).apply
                return Call(apply, (self._value(callee, new), *arguments), span=call.span)

    def _value(self, node: Expr, new: Expr) -> Expr:
        """What stands where a value is wanted: for a global function, its constructor."""
        if isinstance(node, GlobalVar) and node in self.module:
            return Call(self._family(self.module[node].checked_type).constructor(node, ()), (), span=node.span)
        return new

    def _pattern(self, pattern: Pattern) -> Pattern:
        match pattern:
            case PatternConstructor(constructor, patterns):
                new = self.constructors.get(constructor, constructor)
                return PatternConstructor(new, tuple(map(self._pattern, patterns)))
            case PatternTuple(patterns):
                return PatternTuple(tuple(map(self._pattern, patterns)))
            case _:
                return pattern

    def _variable(self, var: Var, is_parameter: bool) -> Var:
        type_ = var.checked_type if is_parameter else var.type_annotation
        return Var(var.name_hint, None if type_ is None else self._type(type_), span=var.span)

    def _result_type(self, function: Function) -> Type | None:
        type_ = function.checked_type
        return self._type(type_.ret_type) if isinstance(type_, FuncType) else None

    def _type(self, type_: Type | None) -> Type:
        """A type in which data stand for functions."""
        match type_:
            case FuncType():
                return TypeCall(self._family(type_).header, ())
            case TupleType(fields):
                return TupleType(tuple(map(self._type, fields)))
            case RefType(value):
                return RefType(self._type(value))
            case TypeCall(func, args):
                return TypeCall(func, tuple(map(self._type, args)))
            case GlobalTypeVar():
                return TypeCall(type_, ())  # the same type, written one way
            case None:
                raise CompilerBug("Defunctionalization", "a value without a type")
            case _:
                return type_

    def _family(self, type_: Type | None) -> _Family:
        if not isinstance(type_, FuncType):
            raise CompilerBug("Defunctionalization", f"a function of type {type_}")
        if type_symbols(type_) or any(isinstance(part, TypeVar) for part in type_parts(type_)):
            raise _refusal(f"a function of type {type_} is a value: which functions it may be depends on its caller")
        first_order = FuncType(tuple(map(self._type, type_.arg_types)), self._type(type_.ret_type))
        known = self.families.get(first_order)
        if known is None:
            number = str(len(self.families))
            header = _fresh(f"Closure{number}", {each.name for each in self.module.type_definitions})
            apply = _fresh(f"apply{number}", {each.name_hint for each in self.module})
            known = _Family(GlobalTypeVar(header), GlobalVar(apply), first_order, self.taken)
            self.families[first_order] = known
        return known

    def _definition(self, definition: TypeData) -> TypeData:
        """A data type whose fields are data where they were functions."""
        if not any(_holds_functions(each) for made in definition.constructors for each in made.inputs):
            return definition
        for each in definition.constructors:
            inputs = tuple(map(self._type, each.inputs))
            self.constructors[each] = Constructor(each.name_hint, inputs, each.belong_to, each.tag, span=each.span)
        made = tuple(self.constructors[each] for each in definition.constructors)
        return TypeData(definition.header, definition.type_vars, made, definition.extern, definition.span)

    def _check_main(self, function: Function) -> None:
        type_ = function.checked_type
        if isinstance(type_, FuncType) and any(map(_holds_functions, (*type_.arg_types, type_.ret_type))):
            raise _refusal(
                f"@main, of type {type_}, takes or gives functions, which its caller knows as functions",
                remedy="let @main take and give data, and make or call the functions inside",
            )


def _closure(function: Function) -> Function | None:
    """The function that a maker of closures gives."""
    body = function.body
    return body if isinstance(body, Function) and body.attrs.get("Closure") else None


def _is_without_functions(module: IRModule) -> bool:
    """Whether there is nothing to do: no functions are inside others, and no value is one."""
    held = (type_ for each in module.constructors() for type_ in each.inputs)
    functions = module.functions.values()
    inside = (isinstance(node, Function) for each in functions for node in body_nodes(each))
    return not any(inside) and all(map(_is_first_order, functions)) and not any(map(_holds_functions, held))


def _is_first_order(function: Function) -> bool:
    """Whether no value in a function is a function. Operators, constructors, and what is written out where it is called
    and nowhere else, are none; what a call gives is one."""
    order = body_nodes(function)
    callees = (node.op for node in order if isinstance(node, Call) and not isinstance(node.op, Call))
    called = set(callees) - {function.body}
    called -= {part for node in order for part in (node.args if isinstance(node, Call) else children(node))}
    values = [*function.params, *(node for node in order if node not in called)]
    return not any(isinstance(each, GlobalVar) or _is_of_functions(each) for each in values)


def _is_of_functions(value: Expr) -> bool:
    if value.checked_type is None or isinstance(value, Op | Constructor):
        return False
    return _holds_functions(value.checked_type)


def _fresh(name: str, taken: Collection[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _holds_functions(type_: Type) -> bool:
    return any(isinstance(part, FuncType) for part in type_parts(type_))


def _refusal(message: str, remedy: str = "give the function a type that is written out") -> RelayError:
    return RelayError(rule="not-first-order", message=message, remedy=remedy)
