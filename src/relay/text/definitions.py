"""The definitions of a module, as text has them."""

from __future__ import annotations

from relay.base.diagnostics import RelayError
from relay.base.span import Span
from relay.base.trampoline import run
from relay.ir.datatype import TypeData
from relay.ir.expr import Constructor, Function, GlobalVar
from relay.ir.module import IRModule
from relay.ir.types import GlobalTypeVar
from relay.text.forms import function
from relay.text.lexer import Kind
from relay.text.parser import ExpressionParser, plain_name


class DefinitionReader:
    """Reads the definitions of a module: data types first, since they may be used before they stand in the text."""

    def __init__(self, parser: ExpressionParser) -> None:
        self.parser = parser
        self.cursor = parser.cursor
        self.types: dict[GlobalTypeVar, TypeData] = {}
        self.functions: dict[GlobalVar, Function] = {}

    def read(self) -> IRModule:
        types, functions = self.find_definitions()
        for position in types:
            self.type_definition(position)
        for position in functions:
            self.function_definition(position)
        return IRModule(self.functions, {**self.types, **self.parser.data_types.borrowed})

    def find_definitions(self) -> tuple[list[int], list[int]]:
        """Where type and function definitions begin. Notes the names of the types."""
        cursor, types, functions = self.cursor, list[int](), list[int]()
        while cursor.kind is not Kind.END:
            start = cursor.position
            if cursor.at("type") or cursor.at("extern"):
                types.append(start)
                self._declare_type()
            elif cursor.at("def"):
                functions.append(start)
                cursor.advance()
            else:
                cursor.fail("a definition is missing here", "`def`, `type` or `extern type`")
            self._skip_definition()
        return types, functions

    def _declare_type(self) -> None:
        extern = self.cursor.accept("extern")
        self.cursor.expect("type", "after `extern`" if extern else "here")
        span = self.cursor.span()
        name = self.cursor.expect_kind(Kind.NAME, "after `type`")
        if name in self.parser.data_types.headers:
            raise _duplicate(f"type {name}", span)
        self.parser.data_types.headers[name] = GlobalTypeVar(name)

    def _skip_definition(self) -> None:
        """Pass everything up to the next definition outside braces."""
        cursor, depth = self.cursor, 0
        while cursor.kind is not Kind.END:
            if cursor.kind is Kind.MARK:
                depth += {"{": 1, "}": -1}.get(cursor.text, 0)
            elif depth == 0 and cursor.text in ("def", "type", "extern") and cursor.kind is Kind.NAME:
                return
            if depth < 0:
                cursor.fail("a brace is closed that was not opened")
            cursor.advance()
            if depth == 0 and self.cursor.tokens.texts[cursor.position - 1] == "}":
                return

    def type_definition(self, position: int) -> TypeData:
        """Read the data type that is defined at token `position`."""
        cursor, reader = self.cursor, self.parser.types
        cursor.seek(position)
        reader.symbols = {}
        first = cursor.position
        extern = cursor.accept("extern")
        cursor.advance()
        header = reader.data_types[cursor.advance()]
        with reader.type_params() as variables:
            span = cursor.span_from(first)
            constructors: list[Constructor] = []
            if not extern:
                cursor.expect("{", "before the constructors")
                for _ in cursor.items("}", "constructors"):
                    constructors.append(self._constructor(header, len(constructors)))
        data = self.types[header] = TypeData(header, variables, tuple(constructors), extern, span)
        return data

    def _constructor(self, header: GlobalTypeVar, tag: int) -> Constructor:
        cursor, reader = self.cursor, self.parser.types
        span = cursor.span()
        name = cursor.expect_kind(Kind.NAME, "where a constructor stands")
        if name in self.parser.data_types.constructors:
            raise _duplicate(f"constructor {name}", span)
        fields = cursor.items(")", "the fields of a constructor") if cursor.accept("(") else ()
        inputs = [reader.type_() for _ in fields]
        constructor = Constructor(name, tuple(inputs), header, tag, span=span)
        self.parser.data_types.constructors[name] = constructor
        return constructor

    def function_definition(self, position: int) -> Function:
        """Read the function that is defined at token `position`."""
        cursor = self.cursor
        cursor.seek(position)
        self.parser.types.symbols = {}
        first = cursor.position
        cursor.expect("def", "here")
        span = cursor.span()
        name = GlobalVar(plain_name(cursor.expect_kind(Kind.GLOBAL, "after `def`"), span))
        if name in self.functions:
            raise _duplicate(f"function @{name.name_hint}", span)
        defined = run(function(self.parser, first))
        if not isinstance(defined, Function):
            cursor.fail("a function is missing here")
        self.functions[name] = defined
        return defined


def _duplicate(what: str, span: Span) -> RelayError:
    return RelayError(rule="duplicate-name", message=f"{what} is defined twice", span=span)
