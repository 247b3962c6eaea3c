"""`del xs[i]` and `del xs[i:j]`, in terms of what changes lists and dicts as well: `xs.pop(i)` and `xs[i:j] = []`."""

from __future__ import annotations

import ast


def without_deletions(function: ast.FunctionDef) -> ast.FunctionDef:
    r"""A function without deletions of parts of variables. Those of variables themselves stay.

    >>> tree = ast.parse("def f(xs):\n    del xs[0], xs[1:]").body[0]
    >>> print(ast.unparse(ast.fix_missing_locations(without_deletions(tree))))
    def f(xs):
        xs.pop(0)
        xs[1:] = []
    """
    return _Deletions().visit(function)


class _Deletions(ast.NodeTransformer):
    def visit_Delete(self, node: ast.Delete) -> ast.Delete | list[ast.stmt]:  # as `ast` calls it
        made = [_deleted(each) for each in node.targets if isinstance(each, ast.Subscript)]
        return node if len(made) < len(node.targets) else made


def _deleted(target: ast.Subscript) -> ast.stmt:
    def placed(made: ast.AST) -> ast.AST:
        return ast.copy_location(made, target)

    if isinstance(target.slice, ast.Slice):
        place = placed(ast.Subscript(target.value, target.slice, ast.Store()))
        made: ast.stmt = ast.Assign([place], placed(ast.List([], ast.Load())))  # type: ignore[list-item, arg-type]
    else:
        method = placed(ast.Attribute(target.value, "pop", ast.Load()))
        made = ast.Expr(placed(ast.Call(method, [target.slice], [])))  # type: ignore[arg-type]
    return ast.copy_location(made, target)
