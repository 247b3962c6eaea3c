"""Programs as Relay text, version 0.0.5. What is printed parses back to the same program.

Leaves are written where they are used; every other node gets a line `%N = ...;` in the block of the scope that
evaluates it, except the last one of a block and the value of a let, which stand in place when used once. So the text
is as long as the program is large, and nothing nests but scopes.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Any

from relay.base.arguments import FLAG, Kind, takes
from relay.base.diagnostics import CompilerBug
from relay.base.frozen import frozen
from relay.base.trampoline import run
from relay.ir.attributes import Attributes
from relay.ir.datatype import TypeData
from relay.ir.expr import (
    EXPRESSION,
    Call,
    Constant,
    Constructor,
    Expr,
    Function,
    GlobalVar,
    If,
    Let,
    Match,
    Op,
    Pattern,
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
)
from relay.ir.module import IRModule
from relay.ir.sharing import Scope, Scopes, scopes
from relay.ir.traversal import LEAVES
from relay.ir.variables import free_vars
from relay.text.attributes import show_key, show_value
from relay.text.lexer import METADATA_MARK
from relay.text.literals import METADATA_CONSTANTS, literal, write_metadata
from relay.text.names import VarNames, sigil_name
from relay.text.types import TypeNames

VERSION = '#[version = "0.0.5"]'
Steps = Generator[Any, Any, None]


_PROGRAM = Kind((IRModule, *EXPRESSION.types), "a module or an expression")


@takes(program=_PROGRAM, show_meta_data=FLAG, show_types=FLAG)
def astext(program: IRModule | Expr, show_meta_data: bool = True, show_types: bool = True) -> str:
    """`program` as text. Without `show_meta_data` tensors are named but not shown, and the text does not parse back.
    With `show_types` inferred types stand in comments behind calls.

    >>> from relay.ir.expr import Function, Tuple, Var
    >>> x = Var("x")
    >>> print(astext(Function((x,), Tuple((x, x)))))
    #[version = "0.0.5"]
    fn (%x) {
      (%x, %x)
    }
    """
    constants: dict[Constant, int] = {}
    parts = [VERSION]
    if isinstance(program, IRModule):
        reserved = [header.name for header in program.type_definitions]
        parts += [_definition(data, reserved) for data in program.type_definitions.values()]
        parts += [
            _Printer(constants, show_types, reserved).definition(name, function)
            for name, function in program.functions.items()
        ]
        separator = "\n\n"
    else:
        parts.append(_Printer(constants, show_types, ()).expression(program))
        separator = "\n"
    text = parts[0] + "\n" + separator.join(parts[1:]) if len(parts) > 1 else parts[0]
    if show_meta_data and constants:
        text += f"\n\n{METADATA_MARK}\n{write_metadata(constants)}"
    return text + "\n" if isinstance(program, IRModule) else text


def _definition(data: TypeData, reserved: list[str]) -> str:
    names = TypeNames(reserved)
    params = f"[{', '.join(map(names.name, data.type_vars))}]" if data.type_vars else ""
    head = f"type {data.header.name}{params}"
    if data.extern:
        return f"extern {head}"
    lines = [
        f"  {c.name_hint}{'(' + ', '.join(map(names.show, c.inputs)) + ')' if c.inputs else ''},"
        for c in data.constructors
    ]
    return "\n".join([head + " {", *lines, "}"])


def _is_unit(node: Expr) -> bool:
    """Whether a node is `()`, of which there is one, like a constant."""
    return isinstance(node, Tuple) and not node.fields


@frozen
class _Place:
    """Where a node is written: between `prefix` and `suffix`, in lines indented by `indent`."""

    indent: str
    prefix: str
    suffix: str


class _Printer:
    """Prints one definition; names and numbers are of this definition. `constants` are those that the text refers to by
    number, in order."""

    def __init__(self, constants: dict[Constant, int], show_types: bool, reserved: Sequence[str]) -> None:
        self.constants = constants
        self.show_types = show_types
        self.vars = VarNames()
        self.types = TypeNames(reserved)
        self.lines: list[str] = []
        self.numbers: dict[Expr, str] = {}
        self.scopes: Scopes = scopes(Tuple(()))

    def definition(self, name: GlobalVar, function: Function) -> str:
        self.scopes = scopes(function, text_blocks=True)
        head = f"def {sigil_name('@', name.name_hint)}{self._signature(function)} {{"
        self.lines.append(head)
        run(self._block(self.scopes.inner(function)[0], "  "))
        self.lines.append("}")
        return "\n".join(self.lines)

    def expression(self, expr: Expr) -> str:
        self.scopes = scopes(expr, text_blocks=True)
        self.lines += [f"free_var {self._typed(var)};" for var in free_vars(expr)]
        run(self._block(self.scopes.root, ""))
        return "\n".join(self.lines)

    # ------------------------------------------------------------------------------------------------- blocks

    def _block(self, scope: Scope, indent: str) -> Steps:
        """The lines of a scope: what it evaluates, in order, then its value."""
        end = self._end(scope)
        lets = [node for node in scope.order if isinstance(node, Let) and self._binds_in(node, scope)]
        in_place = {let.value for let in lets if self.scopes.uses(let.value) == 1}
        if self.scopes.uses(end) == 1:
            in_place.add(end)
        numbered_later = {let.value for let in lets if self._calls_itself(let)}
        for node in scope.order:
            if _is_unit(node):
                continue
            if isinstance(node, Let) and self._binds_in(node, scope):
                yield self._let(node, indent)
            elif node in in_place:
                if node is end:
                    yield self._node(node, _Place(indent, "", ""))
            elif node not in numbered_later:
                yield self._node(node, _Place(indent, f"{self._number(node)} = ", ";"))
        if self._is_atom(end):
            self.lines.append(f"{indent}{self._atom(end)}")

    def _end(self, scope: Scope) -> Expr:
        """The last node of a scope: past the lets that are bound in it, but not into a block that stands elsewhere."""
        node = scope.result
        while isinstance(node, Let) and self._binds_in(node, scope):
            node = node.body
        return node

    def _binds_in(self, let: Let, scope: Scope) -> bool:
        inner = self.scopes.inner(let)
        return not inner or inner[0] is scope

    def _calls_itself(self, let: Let) -> bool:
        """Whether a let's value is a function that uses the variable and stands elsewhere too: such a one gets its
        number where the variable is bound."""
        shared = isinstance(let.value, Function) and self.scopes.uses(let.value) > 1
        return shared and let.var in free_vars(let.value)

    def _number(self, node: Expr) -> str:
        name = self.numbers[node] = f"%{len(self.numbers)}"
        return name

    def _let(self, let: Let, indent: str) -> Steps:
        prefix = f"let {self._typed(let.var)} = "
        value = let.value
        if self._is_atom(value):
            self.lines.append(f"{indent}{prefix}{self._atom(value)};")
        elif self.scopes.uses(value) == 1:
            yield self._node(value, _Place(indent, prefix, ";"))
        else:
            yield self._node(value, _Place(indent, f"{prefix}{self._number(value)} = ", ";"))

    # -------------------------------------------------------------------------------------------------- nodes

    def _node(self, node: Expr, place: _Place) -> Steps:
        match node:
            case Function():
                yield self._braces(f"fn {self._signature(node)} {{", node, 0, place, "}" + place.suffix)
            case If(cond):
                yield self._braces(f"if ({self._atom(cond)}) {{", node, 0, place, "} else {")
                yield self._block(self.scopes.inner(node)[1], place.indent + "  ")
                self.lines.append(f"{place.indent}}}{place.suffix}")
            case Match():
                yield self._match(node, place)
            case Let():
                yield self._braces("{", node, 0, place, "}" + place.suffix)
            case _:
                text = self._line(node)
                self.lines.append(f"{place.indent}{place.prefix}{text}{place.suffix}{self._type_comment(node)}")

    def _braces(self, opening: str, node: Expr, position: int, place: _Place, closing: str) -> Steps:
        self.lines.append(f"{place.indent}{place.prefix}{opening}")
        yield self._block(self.scopes.inner(node)[position], place.indent + "  ")
        self.lines.append(f"{place.indent}{closing}")

    def _match(self, node: Match, place: _Place) -> Steps:
        keyword = "match" if node.complete else "match?"
        self.lines.append(f"{place.indent}{place.prefix}{keyword} ({self._atom(node.data)}) {{")
        inside = _Place(place.indent + "  ", "", "")
        for position, clause in enumerate(node.clauses):
            yield self._braces(f"{self._pattern(clause.lhs)} => {{", node, position, inside, "},")
        self.lines.append(f"{place.indent}}}{place.suffix}")

    def _type_comment(self, node: Expr) -> str:
        if not self.show_types or node.checked_type is None or not isinstance(node, Call):
            return ""
        return f" /* ty={self.types.show(node.checked_type)} */"

    def _line(self, node: Expr) -> str:
        """A node that takes one line."""
        match node:
            case Tuple(fields):
                return f"({', '.join(map(self._atom, fields))}{',' if len(fields) == 1 else ''})"
            case TupleGetItem(value, index):
                plain = isinstance(value, Var) or not isinstance(value, LEAVES)
                return f"{self._atom(value) if plain else f'({self._atom(value)})'}.{index}"
            case RefCreate(value):
                return f"ref({self._atom(value)})"
            case RefRead(ref):
                return f"ref_read({self._atom(ref)})"
            case RefWrite(ref, value):
                return f"ref_write({self._atom(ref)}, {self._atom(value)})"
            case Call():
                return self._call(node)
            case _:
                raise CompilerBug("printer", f"a {type(node).__name__} does not take one line")

    def _call(self, node: Call) -> str:
        callee = self._atom(node.op)
        given = node.given_type_args
        type_args = f"[{', '.join(map(self.types.show, given))}]" if given else ""
        if isinstance(node.op, Constructor) and not node.args and not node.op.inputs and not type_args:
            return callee
        parts = [*map(self._atom, node.args), *self._attributes(node.attrs)]
        return f"{callee}{type_args}({', '.join(parts)})"

    def _attributes(self, attrs: Attributes | None) -> Iterator[str]:
        if attrs is not None:
            yield from (f"{name}={show_value(value, self.types)}" for name, value in attrs.shown())

    def _is_atom(self, node: Expr) -> bool:
        """Whether a node is written where it is used."""
        return isinstance(node, LEAVES) or node in self.numbers or _is_unit(node)

    def _atom(self, node: Expr) -> str:
        """What stands for a node where it is used."""
        match node:
            case Var():
                return self.vars.name(node)
            case GlobalVar(name):
                return sigil_name("@", name)
            case Constant():
                return literal(node) or self._tensor(node)
            case Constructor(name):
                return name
            case Op():
                return node.name
            case Tuple(()):
                return "()"
            case _:
                number = self.numbers.get(node)
                if number is None:
                    raise CompilerBug("printer", f"a {type(node).__name__} is used before its line")
                return number

    def _tensor(self, node: Constant) -> str:
        shape = ", ".join(map(str, node.data.shape)) + ("," if node.data.ndim == 1 else "")
        type_ = f"Tensor[({shape}), {node.dtype.value}]" if shape else node.dtype.value
        number = self.constants.setdefault(node, len(self.constants))
        return f"meta[{METADATA_CONSTANTS}][{number}] /* ty={type_} */"

    def _signature(self, node: Function) -> str:
        type_params = f"[{', '.join(map(self.types.name, node.type_params))}]" if node.type_params else ""
        parts = [self._typed(param) for param in node.params]
        parts += [f"{show_key(key)}={show_value(value, self.types)}" for key, value in node.attrs.items()]
        result = f" -> {self.types.show(node.ret_type)}" if node.ret_type is not None else ""
        return f"{type_params}({', '.join(parts)}){result}"

    def _typed(self, var: Var) -> str:
        name = self.vars.name(var)
        return name if var.type_annotation is None else f"{name}: {self.types.show(var.type_annotation)}"

    def _pattern(self, pattern: Pattern) -> str:
        match pattern:
            case PatternWildcard():
                return "_"
            case PatternVar(var):
                return self._typed(var)
            case PatternConstructor(constructor, patterns):
                inner = f"({', '.join(map(self._pattern, patterns))})" if patterns else ""
                return f"{constructor.name_hint}{inner}"
            case PatternTuple(patterns):
                return f"({', '.join(map(self._pattern, patterns))}{',' if len(patterns) == 1 else ''})"
