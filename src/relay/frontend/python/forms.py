"""What the reader makes of Python: the handler of each form. What has none is refused."""

from __future__ import annotations

import ast

from relay.frontend.python import calls, expressions, functions, transformed
from relay.frontend.python.block import Forms
from relay.frontend.python.callables import Method, PythonFunction, Template, Transformed
from relay.frontend.python.statements import branches, loops, matching, simple
from relay.ir.expr import ExprBase

FORMS = Forms(
    expressions={
        ast.Attribute: expressions.attribute,
        ast.BinOp: expressions.binary,
        ast.BoolOp: expressions.short_circuit,
        ast.Call: calls.called,
        ast.Compare: expressions.compare,
        ast.Constant: expressions.constant,
        ast.GeneratorExp: expressions.comprehension,
        ast.IfExp: expressions.either,
        ast.Lambda: functions.template,
        ast.List: expressions.list_display,
        ast.ListComp: expressions.comprehension,
        ast.Name: expressions.name,
        ast.Subscript: expressions.subscript,
        ast.Tuple: expressions.tuple_display,
        ast.UnaryOp: expressions.unary,
    },
    statements={
        ast.AnnAssign: simple.going_on(simple.annotated),
        ast.Assign: simple.going_on(simple.assignment),
        ast.AugAssign: simple.going_on(simple.augmented),
        ast.Expr: simple.going_on(simple.effect),
        ast.FunctionDef: simple.going_on(functions.define_template),
        ast.Assert: simple.going_on(simple.asserted),
        ast.Pass: simple.going_on(lambda block, node: None),  # noqa: ARG005
        ast.If: branches.if_else,
        ast.Match: matching.match,
        ast.For: loops.loop,
        ast.While: loops.loop,
        ast.Break: simple.broken,
        ast.Continue: simple.continued,
        ast.Return: simple.returned,
    },
    calls={
        ExprBase: calls.call_value,
        Method: calls.call_method,
        Template: functions.call_template,
        PythonFunction: functions.call_function,
        Transformed: transformed.call_transformed,
        functions.ModelPart: functions.call_model,
        functions.ModelMethod: functions.call_model_method,
        type: calls.call_class,
        object: calls.call_python,
    },
    closures={Template: functions.closure, PythonFunction: functions.function_value, Transformed: transformed.value},
)
