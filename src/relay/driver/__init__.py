"""The way from a program to native code, strung together: `relay.build` and what stands around it."""

from relay.driver.build import build, compile_stages, verified_executable
from relay.driver.compilation import Compilation
from relay.driver.executors import Executor, create_executor
from relay.driver.graph import build_graph
from relay.driver.libraries.c_header import c_header
from relay.driver.libraries.export import export_library
from relay.driver.notations.reading import load_json, parse, parse_expr, save_json
from relay.driver.parameters import bind_params, load_params, save_params
from relay.driver.roofline import machine_roofline, measure_roofline
from relay.driver.targets import targets_for

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
