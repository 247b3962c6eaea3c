"""Cotangents: how much the final value changes with a value, and the types that they have.

A float tensor's cotangent is a tensor of its type; a tuple's is the tuple of those of its fields; integers, booleans
and keys have none, which is the empty tuple where one must stand. A data type has one generated for it, with a
constructor for each of its own that has something to differentiate in it, and one more for zero, so that what a path
of the program does not touch costs nothing:

    type Tree { Leaf(int32), Node(Tree, float32, Tree) }
    type TreeCotangent { TreeZero, NodeCotangent(TreeCotangent, float32, TreeCotangent) }

While a program is transposed, zeros are no expressions at all: a cotangent is `None` (zero), an expression, or `Parts`
of a tuple. Sums of cotangents of data are functions that are generated when they are needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import TypeAlias, Union

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen, mutable
from relay.base.names.fresh_names import FreshNames
from relay.infer.eager import eager_type
from relay.ir.datatype import TypeData
from relay.ir.expr import (
    Call,
    Clause,
    Constructor,
    Expr,
    Function,
    GlobalVar,
    Match,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
    Tuple,
    TupleGetItem,
    Var,
    const,
    record_type,
)
from relay.ir.module import IRModule
from relay.ir.type_traversal import instantiated
from relay.ir.types import FuncType, GlobalTypeVar, RefType, TensorType, TupleType, Type, TypeCall, TypeVar
from relay.ops.creation.create import zeros, zeros_like
from relay.ops.elementwise.elementwise_binary import add

NOTHING = TupleType(())
"""The type of the cotangent of what cannot be differentiated."""


@frozen(eq=False)
class Parts:
    """The cotangent of a tuple, field by field."""

    fields: tuple[Cotangent, ...]


Cotangent: TypeAlias = Union[Expr, Parts, None]
"""None is zero."""


@mutable
class Cotangents:
    """The types of cotangents in one module, and the functions that add them."""

    module: IRModule
    names: FreshNames
    definitions: dict[GlobalTypeVar, TypeData] = field(default_factory=dict)
    adders: dict[Type, GlobalVar] = field(default_factory=dict)
    settlers: dict[Type, GlobalVar] = field(default_factory=dict)
    functions: dict[GlobalVar, Function] = field(default_factory=dict)
    _known: dict[Type, bool] = field(default_factory=dict)

    def exists(self, type_: Type) -> bool:
        """Whether there is anything to differentiate in values of a type."""
        known = self._known.get(type_)
        if known is None:
            known = self._known[type_] = any(map(_is_differentiable, self._leaves(type_)))
        return known

    def _leaves(self, type_: Type) -> Iterator[TensorType | TypeVar]:
        """The tensors and type parameters in values of a type, those of data types that are named included. Raises
        `RelayError` (rule `no-gradient`) for functions and refs."""
        seen: set[Type] = set()
        waiting = [type_]
        while waiting:
            part = waiting.pop()
            match part:
                case TensorType() | TypeVar():
                    yield part
                case TupleType(fields):
                    waiting += fields
                case TypeCall() | GlobalTypeVar():
                    if part not in seen:
                        seen.add(part)
                        waiting += (each for made in self.data(part).constructors for each in self.inputs(made, part))
                case FuncType() | RefType():
                    raise _not_yet(part)
                case _:
                    pass

    def data(self, type_: Type) -> TypeData:
        """The definition of a data type, the program's or one generated here."""
        header = type_.func if isinstance(type_, TypeCall) else type_
        assert isinstance(header, GlobalTypeVar)
        return self.definitions.get(header) or self.module.type_definitions[header]

    def inputs(self, constructor: Constructor, type_: Type) -> tuple[Type, ...]:
        """The types of the fields of a constructor in values of a type."""
        arguments = type_.args if isinstance(type_, TypeCall) else ()
        bound = dict(zip(self.data(type_).type_vars, arguments, strict=False))
        return tuple(instantiated(each, bound) for each in constructor.inputs)

    # ------------------------------------------------------------------------------------------------------- types

    def type_of(self, type_: Type) -> Type:
        """The type of the cotangents of a type's values.

        Raises `RelayError` (rule `no-gradient`) for functions and refs.
        """
        match type_:
            case TensorType(_, dtype):
                return type_ if dtype.is_float else NOTHING
            case TupleType(fields):
                return TupleType(tuple(map(self.type_of, fields)))
            case TypeCall(func, args):
                return TypeCall(self._header(func), tuple(map(self.type_of, args))) if self._is_any(func) else NOTHING
            case GlobalTypeVar():
                return self.type_of(TypeCall(type_, ()))
            case TypeVar():
                return type_  # in a definition: it stands for a type of cotangents there
            case _:
                raise _not_yet(type_)

    def _is_any(self, header: GlobalTypeVar) -> bool:
        """Whether there is something to differentiate in some values of a data type: then all have cotangents of one
        generated type, since definitions that hold such data know no more of its parameters."""
        return self.exists(TypeCall(header, self.data(header).type_vars))

    def _header(self, header: GlobalTypeVar) -> GlobalTypeVar:
        """The data type of the cotangents of a data type's values."""
        name = f"{header.name}Cotangent"
        made = GlobalTypeVar(name)
        if made not in self.definitions and made not in self.module.type_definitions:
            definition = self.module.type_definitions.get(header) or self.definitions[header]
            self.definitions[made] = TypeData(made, definition.type_vars, (Constructor(_zero(header), (), made, 0),))
            constructors = [Constructor(_zero(header), (), made, 0)]
            for each in definition.constructors:
                fields = tuple(self.type_of(each_type) for each_type in each.inputs if self.exists(each_type))
                if fields:
                    constructors.append(Constructor(f"{each.name_hint}Cotangent", fields, made, len(constructors)))
            self.definitions[made] = TypeData(made, definition.type_vars, tuple(constructors))
        return made

    def of_constructor(self, constructor: Constructor) -> tuple[Constructor, tuple[int, ...]] | None:
        """The constructor of the cotangents of what a constructor makes, and which of its fields they have; None if
        they are always zero."""
        header = self._header(constructor.belong_to)
        wanted = f"{constructor.name_hint}Cotangent"
        found = next((each for each in self.data(header).constructors if each.name_hint == wanted), None)
        if found is None:
            return None
        counted = (at for at, type_ in enumerate(constructor.inputs) if self.exists(type_))
        return found, tuple(counted)

    def made(self, constructor: Constructor, type_: Type, fields: Sequence[Expr]) -> Expr:
        """A cotangent of a value of a data type. Its type is written out: the fields may not tell all of it."""
        of = self.type_of(type_)
        assert isinstance(of, TypeCall)
        return record_type(Call(constructor, tuple(fields), type_args=of.args), of)

    # ------------------------------------------------------------------------------------------------------ values

    def whole(self, cotangent: Cotangent, type_: Type, value: Expr) -> Expr:
        """A cotangent as an expression; `value` is what it is the cotangent of, whose extents zeros have."""
        match cotangent:
            case Parts(fields):
                assert isinstance(type_, TupleType)
                parts = enumerate(zip(fields, type_.fields, strict=True))
                return _tuple([self.whole(each, part, _field(value, at)) for at, (each, part) in parts])
            case None:
                return self._zeros(type_, value)
            case _:
                return cotangent

    def _zeros(self, type_: Type, value: Expr) -> Expr:
        match type_:
            case GlobalTypeVar():
                return self._zeros(TypeCall(type_, ()), value)
            case TensorType(shape, dtype) if dtype.is_float:
                if not shape:
                    return const(0.0, dtype)
                return zeros(shape, dtype) if type_.element_count is not None else zeros_like(value)
            case TupleType(fields):
                return _tuple([self._zeros(part, _field(value, at)) for at, part in enumerate(fields)])
            case TypeCall(func) if self._is_any(func):
                return self.made(self.data(self.type_of(type_)).constructors[0], type_, ())
            case _:
                return Tuple(())

    def part(self, cotangent: Cotangent, index: int) -> Cotangent:
        """The cotangent of a field of a tuple."""
        match cotangent:
            case Parts(fields):
                return fields[index]
            case None:
                return None
            case _:
                return _field(cotangent, index)

    def sum(self, left: Cotangent, right: Cotangent, type_: Type) -> Cotangent:
        """The sum of two cotangents of a value of a type."""
        if left is None or right is None:
            return left if right is None else right
        match type_:
            case TensorType(_, dtype):
                return add(_expression(left), _expression(right)) if dtype.is_float else None
            case TupleType(fields):
                parts = enumerate(fields)
                return Parts(tuple(self.sum(self.part(left, at), self.part(right, at), each) for at, each in parts))
            case _:
                return Call(self.adder(type_), (_expression(left), _expression(right))) if self.exists(type_) else None

    def settled(self, cotangent: Cotangent, type_: Type, value: Expr) -> Expr:
        """A cotangent as users take it: that of data that are made of floats alone is such data, of the same form."""
        match type_:
            case TupleType(fields):
                parts = enumerate(fields)
                return _tuple([self.settled(self.part(cotangent, at), each, _field(value, at)) for at, each in parts])
            case _ if not self.exists(type_):
                return Tuple(())
            case TypeCall() | GlobalTypeVar() if all(map(_is_differentiable, self._leaves(type_))):
                return Call(self.settler(type_), (value, self.whole(cotangent, type_, value)))
            case _:
                return self.whole(cotangent, type_, value)

    def settler(self, type_: Type) -> GlobalVar:
        """The function that writes zeros out: `(data, its cotangent)` to data of the same form."""
        type_ = TypeCall(type_, ()) if isinstance(type_, GlobalTypeVar) else type_
        assert isinstance(type_, TypeCall)
        known = self.settlers.get(type_)
        if known is not None:
            return known
        name = self.settlers[type_] = GlobalVar(self.names.take(f"settle_{type_.func.name.lower()}"))
        data, cotangent = Var("data", type_), Var("cotangent", self.type_of(type_))
        clauses: list[Clause] = []
        for constructor in self.data(type_).constructors:
            inputs = self.inputs(constructor, type_)
            made = self.of_constructor(constructor)
            if made is not None:
                values, parts = ([Var(f"{side}{at}", each) for at, each in enumerate(inputs)] for side in "vd")
                parts = [Var(var.name_hint, self.type_of(each)) for var, each in zip(parts, inputs, strict=True)]
                whole = [self.settled(_typed(d), t, _typed(v)) for v, d, t in zip(values, parts, inputs, strict=True)]
                both = (_pattern(constructor, values), _pattern(made[0], parts))
                clauses.append(Clause(PatternTuple(both), Call(constructor, tuple(whole), type_args=type_.args)))
            values = [Var(f"v{at}", each) for at, each in enumerate(inputs)]
            zeros = [self.settled(None, t, _typed(v)) for v, t in zip(values, inputs, strict=True)]
            pattern = PatternTuple((_pattern(constructor, values), PatternWildcard()))
            clauses.append(Clause(pattern, Call(constructor, tuple(zeros), type_args=type_.args)))
        body = Match(Tuple((data, cotangent)), tuple(clauses))
        self.functions[name] = Function((data, cotangent), body, type_)
        return name

    def adder(self, type_: Type) -> GlobalVar:
        """The function that adds two cotangents of a data type's values: where one is zero it is the other."""
        type_ = TypeCall(type_, ()) if isinstance(type_, GlobalTypeVar) else type_
        assert isinstance(type_, TypeCall)
        known = self.adders.get(type_)
        if known is not None:
            return known
        name = self.adders[type_] = GlobalVar(self.names.take(f"add_{type_.func.name.lower()}_cotangents"))
        of = self.type_of(type_)
        left, right = Var("left", of), Var("right", of)
        zero = self.data(of).constructors[0]
        clauses = [
            Clause(PatternTuple((PatternConstructor(zero), PatternWildcard())), right),
            Clause(PatternTuple((PatternWildcard(), PatternConstructor(zero))), left),
        ]
        for constructor in self.data(type_).constructors:
            made = self.of_constructor(constructor)
            if made is None:
                continue
            inputs = self.inputs(constructor, type_)
            types = [inputs[at] for at in made[1]]
            mine, theirs = ([Var(f"{side}{at}", self.type_of(each)) for at, each in enumerate(types)] for side in "ab")
            sums = [
                self.whole(self.sum(_typed(a), _typed(b), each), each, Tuple(()))
                for a, b, each in zip(mine, theirs, types, strict=True)
            ]
            pattern = PatternTuple(
                tuple(PatternConstructor(made[0], tuple(map(PatternVar, v))) for v in (mine, theirs))
            )
            clauses.append(Clause(pattern, self.made(made[0], type_, sums)))
        clauses.append(Clause(PatternWildcard(), left))  # both are cotangents of one value, so of one constructor
        self.functions[name] = Function((left, right), Match(Tuple((left, right)), tuple(clauses)), of)
        return name


def _pattern(constructor: Constructor, fields: Sequence[Var]) -> PatternConstructor:
    return PatternConstructor(constructor, tuple(map(PatternVar, fields)))


def _is_differentiable(leaf: TensorType | TypeVar) -> bool:
    return isinstance(leaf, TypeVar) or leaf.dtype.is_float  # what a parameter stands for may be


def _expression(cotangent: Cotangent) -> Expr:
    assert cotangent is not None
    assert not isinstance(cotangent, Parts)
    return cotangent


def _typed(var: Var) -> Var:
    eager_type(var)
    return var


def _zero(header: GlobalTypeVar) -> str:
    return f"{header.name}Zero"


def _tuple(fields: Sequence[Expr]) -> Tuple:
    made = Tuple(tuple(fields))
    eager_type(made)
    return made


def _field(value: Expr, index: int) -> Expr:
    if isinstance(value, Tuple):
        return value.fields[index]
    made = TupleGetItem(value, index)
    eager_type(made)
    return made


def _not_yet(type_: Type) -> RelayError:
    what = "a function that is a value" if isinstance(type_, FuncType) else "a ref"
    return RelayError(
        rule="no-gradient", message=f"{what} is part of what is differentiated", found=f"a value of type {type_}",
        expected="tensors, tuples and data types of these",
    )  # fmt: skip
