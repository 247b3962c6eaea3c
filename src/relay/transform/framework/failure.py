"""What is left behind when a pass fails: a bug that names pass and function, and a folder to see it again."""

from __future__ import annotations

import tempfile
import traceback
from pathlib import Path

from relay.base.diagnostics import CompilerBug, RelayError
from relay.base.plugin import plugin_failure
from relay.ir.expr import Op
from relay.ir.module import IRModule
from relay.ir.structural import structural_hash
from relay.ir.traversal import post_order
from relay.ops.framework.record import OperatorRecord
from relay.ops.table import OPERATORS
from relay.text.printer import astext
from relay.transform.framework.context import PassContext
from relay.transform.framework.pass_info import PassInfo
from relay.transform.framework.python_text import PythonText

_SCRIPT = '''\
"""The pass {name} failed on `before.relay`: this runs it again."""

from importlib import import_module
from pathlib import Path

import relay
{imports}
{get_operators}{unknown}program = Path(__file__).parent / "before.relay"
module = relay.parse(program.read_text(encoding="utf-8"), program.name)
{get_pass}
with relay.PassContext(
    opt_level={opt_level},
    layouts={layouts},
    rates={rates},
    fusion={fusion},
    instruments=[{instruments}],
):
    print(the_pass(module))
'''


class FailedFunction(Exception):
    """A function pass failed on this global function; the cause says how."""

    def __init__(self, function: str) -> None:
        self.function = function
        super().__init__(function)


def failed_pass(
    info: PassInfo, home: str, module: IRModule, context: PassContext, error: Exception
) -> CompilerBug | RelayError:
    """The bug that `error` is, in the pass that met it first, with a folder to see it again; a failure of the plug-in
    that brings the pass, if one does."""
    function, cause = "", error
    if isinstance(error, FailedFunction) and isinstance(error.__cause__, Exception):
        function, cause = error.function, error.__cause__
    if isinstance(cause, CompilerBug) and cause.repro:
        return cause  # of a pass that ran inside this one
    stage = f"{info.name} on @{function}" if function else info.name
    if info.brought_by and not isinstance(cause, CompilerBug):
        return plugin_failure(info.brought_by, f"in its pass {stage}", cause)
    message = f"{type(cause).__name__}: {cause}"
    if isinstance(cause, CompilerBug):
        message = cause.message if cause.stage == info.name else str(cause)
    return CompilerBug(stage, message, str(_write_repro(info, home, module, context, cause)))


def repro_parent(context: PassContext) -> Path:
    """Where folders to see a failure again are made."""
    base = context.config.get("relay.repro_folder")
    return Path(base) if isinstance(base, str) else Path(tempfile.gettempdir()) / "relay_repro"


def _write_repro(info: PassInfo, home: str, module: IRModule, context: PassContext, error: Exception) -> Path:
    """`before.relay`, `reproduce.py` and `failure.txt`, in a folder named after the pass and the program."""
    folder = repro_parent(context) / f"{info.name}_{structural_hash(module):016x}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "before.relay").write_text(astext(module), encoding="utf-8")
    (folder / "failure.txt").write_text("".join(traceback.format_exception(error)), encoding="utf-8")
    (folder / "reproduce.py").write_text(_script(info, home, module, context), encoding="utf-8")
    return folder


def _script(info: PassInfo, home: str, module: IRModule, context: PassContext) -> str:
    validates = any(type(each).__name__ == "Validation" for each in context.instruments)
    text = PythonText()
    layouts, rates, fusion = map(text.of, (context.layouts, context.rates, context.fusion))
    return _SCRIPT.format(
        name=info.name,
        imports="".join(f"{each}\n" for each in text.imports),
        unknown="".join(f"raise SystemExit({f'write what makes {each} for None below'!r})\n" for each in text.unknown),
        get_operators=lines_that_register(module),
        get_pass=_get_pass(info, home),
        opt_level=context.opt_level,
        layouts=layouts,
        rates=rates,
        fusion=fusion,
        instruments="relay.transform.Validation()" if validates else "",
    )


def lines_that_register(module: IRModule) -> str:
    """The lines of a script that register the operators that did not come with relay: whoever reads a file of theirs
    has them."""
    own: dict[str, str] = {}
    for function in module.functions.values():
        for node in post_order(function.body):
            if isinstance(node, Op) and node.name not in OPERATORS and isinstance(node.operator, OperatorRecord):
                own[node.name] = node.operator.meaning.__module__
    lines = [
        f'raise SystemExit("put a line here that registers {name}")\n'
        if home == "__main__"
        else f"import_module({home!r})  # which registers {name}\n"
        for name, home in sorted(own.items())
    ]
    return "".join(lines) + ("\n" if lines else "")


def _get_pass(info: PassInfo, home: str) -> str:
    """The line that finds the pass. One that was made inside a function, or in a script, is found by nobody."""
    module, _, name = home.partition(":")
    if module == "__main__" or "<locals>" in name:
        return f'raise SystemExit("the pass {info.name} was made in {home}: put a line here that makes it again")'
    return f"the_pass = getattr(import_module({module!r}), {name!r})"
