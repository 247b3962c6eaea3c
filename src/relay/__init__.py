"""Relay: a functional, statically typed language for machine learning, and the compiler that makes it fast.

    import relay
    module, params = relay.frontend.from_onnx("model.onnx")
    executable = relay.build(module, target="llvm", params=params, opt_level=3)
    y = executable(x)

`relay.compile_model("model.onnx")` is the same in one step, and keeps what it makes for the next process;
`relay.compile(network, (x,))` takes a model of PyTorch.

Names are loaded when they are first used, so that `import relay` is cheap.
"""

# pyright: reportUnusedImport=false, reportUnsupportedDunderAll=false

from __future__ import annotations

import importlib
import typing

if typing.TYPE_CHECKING:
    from relay import (
        adt,
        analysis,
        annotation,
        dataflow_pattern,
        driver,
        dyn,
        dynamo,
        expr,
        expr_functor,
        frontend,
        image,
        ir,
        loops,
        nn,
        op,
        operators,
        prelude,
        random,
        report,
        runtime,
        te,
        testing,
        tir,
        training,
        transform,
        ty,
        vision,
    )
    from relay.base.diagnostics import CompilerBug, RelayError
    from relay.base.target import Target, register_target, unregister_target
    from relay.base.version import VERSION as __version__
    from relay.driver.build import build, optimize
    from relay.driver.derived.gradients import checkpoint, custom_gradient, grad, jvp, linearize, value_and_grad, vjp
    from relay.driver.derived.instances import vmap
    from relay.driver.derived.specialization import specialize
    from relay.driver.executors import create_executor
    from relay.driver.notations.python_source import function, model
    from relay.driver.notations.pytorch import compile
    from relay.driver.notations.reading import load_json, parse, parse_expr, save_json
    from relay.driver.notations.reading import parse as fromtext
    from relay.driver.parameters import load_params, save_params
    from relay.driver.verification.options import VerifyOptions
    from relay.frontend.python.callables import ref
    from relay.frontend.python.datatype import datatype
    from relay.frontend.python.notation import Ref, Tensor
    from relay.ir.datatype import TypeData
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
    from relay.ir.expr_functor import ExprFunctor, ExprMutator, ExprVisitor
    from relay.ir.module import IRModule
    from relay.ir.scope_builder import ScopeBuilder
    from relay.ir.structural import structural_equal, structural_hash
    from relay.ir.types import (
        FuncType,
        GlobalTypeVar,
        RefType,
        TensorType,
        TupleType,
        TypeCall,
        TypeVar,
        scalar_type,
    )
    from relay.ir.variables import bind
    from relay.loops import while_loop
    from relay.modelfiles.compiling import compile_model
    from relay.op import *  # noqa: F403
    from relay.ops.registry import register_operator, unregister_operator
    from relay.prelude import Prelude
    from relay.report.dataflow.page import draw
    from relay.runtime.artefact.param_dict import load_param_dict, save_param_dict
    from relay.runtime.devices.registry import register_device
    from relay.runtime.executable import Executable, load
    from relay.runtime.graph.graph_executor import GraphExecutor
    from relay.runtime.memory.threads import num_threads, set_num_threads
    from relay.runtime.verification import Verification
    from relay.text.printer import astext
    from relay.transform.framework.context import PassContext
    from relay.ty import Any

_MODULES = (
    "adt", "analysis", "annotation", "dataflow_pattern", "driver", "dyn", "dynamo", "expr", "expr_functor", "frontend",
    "image", "ir", "loops", "nn", "op", "operators", "prelude", "random", "report", "runtime", "te", "testing", "tir",
    "training", "transform", "ty", "vision",
)  # fmt: skip

_HOMES = {
    "relay.base.diagnostics": ("CompilerBug", "RelayError"),
    "relay.base.target": ("Target", "register_target", "unregister_target"),
    "relay.driver.build": ("build", "optimize"),
    "relay.driver.executors": ("create_executor",),
    "relay.driver.derived.gradients": (
        "checkpoint", "custom_gradient", "grad", "jvp", "linearize", "value_and_grad", "vjp",
    ),
    "relay.driver.derived.instances": ("vmap",),
    "relay.driver.parameters": ("load_params", "save_params"),
    "relay.driver.notations.python_source": ("function", "model"),
    "relay.driver.notations.pytorch": ("compile",),
    "relay.driver.notations.reading": ("fromtext", "load_json", "parse", "parse_expr", "save_json"),
    "relay.driver.derived.specialization": ("specialize",),
    "relay.driver.verification.options": ("VerifyOptions",),
    "relay.frontend.python.callables": ("ref",),
    "relay.frontend.python.datatype": ("datatype",),
    "relay.frontend.python.notation": ("Ref", "Tensor"),
    "relay.ir.expr": (
        "Call", "Clause", "Constant", "Constructor", "Expr", "Function", "GlobalVar", "If", "Let", "Match", "Op",
        "PatternConstructor", "PatternTuple", "PatternVar", "PatternWildcard", "RefCreate", "RefRead", "RefWrite",
        "Tuple", "TupleGetItem", "Var", "const",
    ),
    "relay.ir.datatype": ("TypeData",),
    "relay.ir.expr_functor": ("ExprFunctor", "ExprMutator", "ExprVisitor"),
    "relay.ir.module": ("IRModule",),
    "relay.ir.scope_builder": ("ScopeBuilder",),
    "relay.ir.structural": ("structural_equal", "structural_hash"),
    "relay.ir.types": (
        "FuncType", "GlobalTypeVar", "RefType", "TensorType", "TupleType", "TypeCall", "TypeVar", "scalar_type",
    ),
    "relay.ir.variables": ("bind",),
    "relay.loops": ("while_loop",),
    "relay.modelfiles.compiling": ("compile_model",),
    "relay.ops.registry": ("register_operator", "unregister_operator"),
    "relay.prelude": ("Prelude",),
    "relay.report.dataflow.page": ("draw",),
    "relay.runtime.devices.registry": ("register_device",),
    "relay.runtime.executable": ("Executable", "load"),
    "relay.runtime.graph.graph_executor": ("GraphExecutor",),
    "relay.runtime.artefact.param_dict": ("load_param_dict", "save_param_dict"),
    "relay.runtime.verification": ("Verification",),
    "relay.runtime.memory.threads": ("num_threads", "set_num_threads"),
    "relay.text.printer": ("astext",),
    "relay.transform.framework.context": ("PassContext",),
    "relay.ty": ("Any",),
}  # fmt: skip

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [*_HOME_OF, *_MODULES]


def __getattr__(name: str) -> typing.Any:
    if name in _MODULES:
        return _loaded(f"relay.{name}")
    if name == "__version__":
        return _loaded("relay.base.version").VERSION
    if name.startswith("_"):
        raise AttributeError(f"module 'relay' has no attribute '{name}'")
    home = _loaded(_HOME_OF.get(name, "relay.op"))  # what is nowhere else is an operator
    if name not in _HOME_OF and name not in home.__all__:
        raise AttributeError(f"module 'relay' has no attribute '{name}'")
    value = getattr(home, name)
    globals()[name] = value
    return value


def _loaded(module: str) -> typing.Any:
    """Without looking for cycles meanwhile: what modules are made of stays."""
    from relay.base.collector import collection_paused  # `import relay` loads nothing yet

    with collection_paused():
        return importlib.import_module(module)


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__", *_loaded("relay.op").__all__})
