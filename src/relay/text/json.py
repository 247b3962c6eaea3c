"""Modules as JSON: for storing, since sharing is explicit and nothing has to be read twice.

    {"format": "relay-module", "version": 2, "types": text of the data types, "constants": [...],
     "functions": [{"name": ..., "nodes": [...]}, ...]}

The nodes of a function stand in an order where each refers to earlier ones by position; the last is the function.
Types and attributes inside are in the text format; so is everything that is small and has no sharing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, cast
from typing import TypeVar as PythonTypeVar

from relay.base.diagnostics import RelayError
from relay.ir.attributes import AttributeValue
from relay.ir.expr import (
    Call,
    Clause,
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
from relay.ir.operator import OperatorTable
from relay.ir.traversal import children, post_order
from relay.ir.types import Type, TypeVar
from relay.ir.variables import free_vars
from relay.text.attributes import ValueReader, build_attributes, show_value
from relay.text.cursor import Cursor
from relay.text.lexer import Kind, tokenize
from relay.text.literals import decode_constant, encode_constant, read_json
from relay.text.module_parser import parse
from relay.text.printer import astext
from relay.text.types import TypeNames, TypeReader

FORMAT, FORMAT_VERSION = "relay-module", 2
Json = dict[str, Any]
Read = PythonTypeVar("Read")


def to_json(module: IRModule) -> str:
    """`module` as JSON; the same text for the same module.

    >>> from_json(to_json(IRModule()), {}).get_global_vars()
    ()
    """
    writer = _Writer([header.name for header in module.type_definitions])
    functions = [writer.function(name, function) for name, function in module.functions.items()]
    document: Json = {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "types": astext(IRModule({}, module.type_definitions)),
        "constants": [encode_constant(constant) for constant in writer.constants],
        "functions": functions,
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def from_json(text: str, operators: OperatorTable) -> IRModule:
    """The module that `to_json` wrote; otherwise raises `RelayError` (rule `bad-json`, or one of the text format)."""
    document = read_json(text, "the module")
    if not isinstance(document, dict) or cast("Json", document).get("format") != FORMAT:
        raise _bad("it is not a module of Relay", f'"format": "{FORMAT}"')
    fields = cast("Json", document)
    if fields.get("version") != FORMAT_VERSION:
        raise _bad("it is of another version", f'"version": {FORMAT_VERSION}')
    try:
        return _read_module(fields, operators)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise _bad(f"a part is missing or of another kind ({error})", "what to_json writes") from None


def _bad(why: str, expected: str) -> RelayError:
    return RelayError(rule="bad-json", message=f"the JSON cannot be read: {why}", expected=expected)


# -------------------------------------------------------------------------------------------------------- writing


class _Writer:
    def __init__(self, reserved: list[str]) -> None:
        self.reserved = reserved
        self.constants: dict[Constant, int] = {}  # numbered as they are met
        self._names = TypeNames()
        self._vars: dict[Var, int] = {}
        self._numbers: dict[Expr, int] = {}

    def function(self, name: GlobalVar, function: Function) -> Json:
        self._names, self._vars, self._numbers = TypeNames(self.reserved), {}, {}
        nodes: list[Json] = []
        for node in dict.fromkeys(post_order(function)):
            self._numbers[node] = len(nodes)
            nodes.append(self._node(node))
        return {"name": name.name_hint, "nodes": nodes}

    def _node(self, node: Expr) -> Json:
        parts = [self._numbers[child] for child in children(node)]
        entry: Json = {"node": type(node).__name__}
        if parts:
            entry["parts"] = parts
        match node:
            case Var():
                entry["var"] = self._var(node)
            case GlobalVar(name):
                entry["name"] = name
            case Constant():
                entry["constant"] = self.constants.setdefault(node, len(self.constants))
            case Constructor(name) | Op(name=name):
                entry["name"] = name
            case TupleGetItem(_, index):
                entry["index"] = index
            case Function():
                entry |= self._function(node)
            case Call(_, _, attrs):
                type_args = node.given_type_args
                if attrs is not None:
                    entry["attributes"] = self._values(dict(attrs.shown()))
                if type_args:
                    entry["type_args"] = [self._names.show(type_) for type_ in type_args]
            case Let(var):
                entry["var"] = self._var(var)
            case Match(_, clauses, complete):
                entry["patterns"] = [self._pattern(clause.lhs) for clause in clauses]
                entry["complete"] = complete
            case Tuple() | If() | RefCreate() | RefRead() | RefWrite():
                pass
        return entry

    def _function(self, node: Function) -> Json:
        return {
            "type_params": [self._names.name(variable) for variable in node.type_params],
            "params": [self._var(param) for param in node.params],
            "ret_type": self._type(node.ret_type),
            "attrs": self._values(node.attrs),
        }

    def _values(self, values: Mapping[str, AttributeValue]) -> dict[str, str]:
        return {key: show_value(value, self._names) for key, value in values.items()}

    def _type(self, type_: Type | None) -> str | None:
        return None if type_ is None else self._names.show(type_)

    def _var(self, var: Var) -> Json | int:
        """A variable: its number, with name and annotation where it is first met."""
        known = self._vars.get(var)
        if known is not None:
            return known
        self._vars[var] = len(self._vars)
        return {"name": var.name_hint, "type": self._type(var.type_annotation)}

    def _pattern(self, pattern: Pattern) -> Json:
        match pattern:
            case PatternWildcard():
                return {"pattern": "_"}
            case PatternVar(var):
                return {"pattern": "var", "var": self._var(var)}
            case PatternConstructor(constructor, patterns):
                return {"pattern": constructor.name_hint, "parts": [self._pattern(inner) for inner in patterns]}
            case PatternTuple(patterns):
                return {"pattern": "()", "parts": [self._pattern(inner) for inner in patterns]}


# -------------------------------------------------------------------------------------------------------- reading


def _read_module(fields: Json, operators: OperatorTable) -> IRModule:
    types = parse(fields["types"], {})
    constants = [decode_constant(item) for item in fields["constants"]]
    functions: dict[GlobalVar, Function] = {}
    for entry in fields["functions"]:
        function = _Reader(types, constants, operators).function(entry["nodes"])
        functions[GlobalVar(_text(entry["name"]))] = function
    return IRModule(functions, types.type_definitions)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a string")
    return value


class _Reader:
    """Reads the nodes of one function."""

    def __init__(self, types: IRModule, constants: list[Constant], operators: OperatorTable) -> None:
        self.constants = constants
        self.operators = operators
        self.constructors = {constructor.name_hint: constructor for constructor in types.constructors()}
        self.data_types = {header.name: header for header in types.type_definitions}
        self.vars: list[Var] = []
        self.nodes: list[Expr] = []
        self.symbols: dict[str, Any] = {}
        self.type_vars: dict[str, TypeVar] = {}

    def function(self, entries: list[Json]) -> Function:
        self._declare_type_vars(entries)
        for entry in entries:
            parts = [self._earlier(part) for part in entry.get("parts", ())]
            self.nodes.append(_READ[_text(entry["node"])](self, entry, parts))
        root = self.nodes[-1]
        if not isinstance(root, Function):
            raise TypeError("the last node is not a function")
        unbound = free_vars(root)
        if unbound:
            raise ValueError(f"%{unbound[0].name_hint} is used, and nothing binds it")
        return root

    def _declare_type_vars(self, entries: list[Json]) -> None:
        """Types inside a function come before the function that binds their parameters."""
        for entry in entries:
            for name in entry.get("type_params", ()):
                self.type_vars[_text(name)] = TypeVar(name)

    def _earlier(self, position: object) -> Expr:
        if not isinstance(position, int) or not 0 <= position < len(self.nodes):
            raise IndexError(f"there is no node {position} yet")
        return self.nodes[position]

    def var(self, item: Json | int) -> Var:
        if isinstance(item, int):
            if not 0 <= item < len(self.vars):
                raise IndexError(f"there is no variable {item} yet")
            return self.vars[item]
        self.vars.append(Var(_text(item["name"]), self.type_(item["type"])))
        return self.vars[-1]

    def type_(self, text: str | None) -> Type | None:
        return None if text is None else self._whole(text, "type", TypeReader.type_)

    def values(self, texts: Mapping[str, str]) -> dict[str, object]:
        return {name: self._whole(text, "value", _value) for name, text in texts.items()}

    def _whole(self, text: str, what: str, read: Callable[[TypeReader], Read]) -> Read:
        """What all of a text is."""
        cursor = Cursor(tokenize(_text(text), "<json>"))
        reader = TypeReader(cursor, self.data_types, type_vars=self.type_vars)
        reader.symbols = self.symbols
        found = read(reader)
        if reader.cursor.kind is not Kind.END:
            reader.cursor.fail(f"the {what} ends here, but the text goes on")
        return found

    def pattern(self, item: Json, depth: int = 0) -> Pattern:
        if depth > 64:
            raise ValueError("a pattern is nested too deep")
        kind = _text(item["pattern"])
        if kind == "_":
            return PatternWildcard()
        if kind == "var":
            return PatternVar(self.var(item["var"]))
        inner = tuple(self.pattern(part, depth + 1) for part in item["parts"])
        return PatternTuple(inner) if kind == "()" else PatternConstructor(self.constructors[kind], inner)

    def make_function(self, entry: Json, parts: list[Expr]) -> Expr:
        type_params = tuple(self.type_vars[name] for name in entry["type_params"])
        attrs = cast("dict[str, AttributeValue]", self.values(entry["attrs"]))
        params = tuple(self.var(item) for item in entry["params"])
        return Function(params, parts[0], self.type_(entry["ret_type"]), type_params, attrs)

    def make_call(self, entry: Json, parts: list[Expr]) -> Expr:
        attributes = None
        if "attributes" in entry:
            if not isinstance(parts[0], Op):
                raise TypeError("attributes without an operator")
            written = {name: (value, None) for name, value in self.values(entry["attributes"]).items()}
            attributes = build_attributes(parts[0].name, parts[0].operator.attributes, written)
        type_args = tuple(cast("Type", self.type_(text)) for text in entry.get("type_args", ()))
        return Call(parts[0], tuple(parts[1:]), attributes, type_args)

    def make_match(self, entry: Json, parts: list[Expr]) -> Expr:
        patterns = [self.pattern(item) for item in entry["patterns"]]
        clauses = tuple(Clause(pattern, rhs) for pattern, rhs in zip(patterns, parts[1:], strict=True))
        return Match(parts[0], clauses, bool(entry["complete"]))


def _value(types: TypeReader) -> object:
    return ValueReader(types.cursor, types).value()


_READ: Mapping[str, Callable[[_Reader, Json, list[Expr]], Expr]] = {
    "Var": lambda reader, entry, _: reader.var(entry["var"]),
    "GlobalVar": lambda _, entry, __: GlobalVar(_text(entry["name"])),
    "Constant": lambda reader, entry, _: reader.constants[int(entry["constant"])],
    "Constructor": lambda reader, entry, _: reader.constructors[entry["name"]],
    "Op": lambda reader, entry, _: Op(reader.operators[entry["name"]]),
    "Tuple": lambda _, __, parts: Tuple(tuple(parts)),
    "TupleGetItem": lambda _, entry, parts: TupleGetItem(parts[0], int(entry["index"])),
    "Function": _Reader.make_function,
    "Call": _Reader.make_call,
    "Let": lambda reader, entry, parts: Let(reader.var(entry["var"]), parts[0], parts[1]),
    "If": lambda _, __, parts: If(*parts),
    "RefCreate": lambda _, __, parts: RefCreate(*parts),
    "RefRead": lambda _, __, parts: RefRead(*parts),
    "RefWrite": lambda _, __, parts: RefWrite(*parts),
    "Match": _Reader.make_match,
}
