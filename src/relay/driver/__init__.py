"""The way from a program to native code, strung together: `relay.build` and what stands around it."""

from typing import TYPE_CHECKING

from relay.base.names.loading import names_when_asked
from relay.driver.build import build, compile_stages, verified_executable
from relay.driver.compilation import Compilation
from relay.driver.parameters import bind_params, load_params, save_params
from relay.driver.targets import targets_for

if TYPE_CHECKING:
    from relay.driver.executors import Executor, create_executor
    from relay.driver.graph import build_graph
    from relay.driver.libraries.c_header import c_header
    from relay.driver.libraries.export import export_library
    from relay.driver.notations.reading import load_json, parse, parse_expr, save_json
    from relay.driver.roofline import machine_roofline, measure_roofline

__getattr__ = names_when_asked(
    __name__,
    {
        "Executor": "relay.driver.executors",
        "build_graph": "relay.driver.graph",
        "c_header": "relay.driver.libraries.c_header",
        "create_executor": "relay.driver.executors",
        "export_library": "relay.driver.libraries.export",
        "load_json": "relay.driver.notations.reading",
        "machine_roofline": "relay.driver.roofline",
        "measure_roofline": "relay.driver.roofline",
        "parse": "relay.driver.notations.reading",
        "parse_expr": "relay.driver.notations.reading",
        "save_json": "relay.driver.notations.reading",
    },
)

__all__ = [
    "Compilation",
    "Executor",
    "bind_params",
    "build",
    "build_graph",
    "c_header",
    "compile_stages",
    "create_executor",
    "export_library",
    "load_json",
    "load_params",
    "machine_roofline",
    "measure_roofline",
    "parse",
    "parse_expr",
    "save_json",
    "save_params",
    "targets_for",
    "verified_executable",
]
