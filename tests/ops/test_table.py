"""The table of all operators: it names what the families have, in the order of each, and loads what is asked for."""

import importlib
import pkgutil
import subprocess
import sys

from relay import ops
from relay.ops.framework.record import OperatorRecord
from relay.ops.table import FAMILIES, OPERATORS


def test_the_table_names_the_operators_of_all_families():
    modules = [each.name for each in pkgutil.walk_packages(ops.__path__, f"{ops.__name__}.")]
    found = {
        (f"{module.removeprefix(f'{ops.__name__}.')}:{name}", row.name)
        for module in modules
        for name, rows in vars(importlib.import_module(module)).items()
        if isinstance(rows, tuple) and rows and all(isinstance(each, OperatorRecord) for each in rows)
        for row in rows
    }
    named = {(home, name) for home, names in FAMILIES.items() for name in names.split()}
    assert named <= found
    assert {name for _, name in found} == set(OPERATORS)
    assert all(OPERATORS[name].name == name for name in OPERATORS)


def test_a_family_is_loaded_when_one_of_its_operators_is_met():
    program = """
        import sys
        from relay.ops.table import OPERATORS
        assert "image.grid_sample" in OPERATORS and "image.no_such" not in OPERATORS
        assert "relay.ops.vision.grid_sample" not in sys.modules
        assert OPERATORS["image.grid_sample"].name == "image.grid_sample"
        assert "relay.ops.vision.grid_sample" in sys.modules
        assert "relay.ops.vision.nms" not in sys.modules
    """
    lines = "\n".join(line.strip() for line in program.splitlines())
    subprocess.run([sys.executable, "-c", lines], check=True)
