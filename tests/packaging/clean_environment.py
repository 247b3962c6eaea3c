"""A wheel as a stranger has it: installed in an environment of its own, and used from elsewhere.

    python -m tests.packaging.clean_environment dist/relay_ir-0.1.0-py3-none-any.whl python3.11 python3.12

Interpreters that are not there are named and left out; one at least must be.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path

USE = """
import ctypes, pathlib, sys
import numpy as np
import relay

assert "site-packages" in relay.__file__, relay.__file__
assert (pathlib.Path(relay.__file__).parent / "py.typed").exists()
x = relay.var("x", shape=("n", 4))
executable = relay.build(relay.Function([x], relay.nn.softmax(relay.nn.relu(x))))
np.testing.assert_allclose(executable(np.ones((3, 4), np.float32)), np.full((3, 4), 0.25), rtol=1e-6)
text = '#[version = "0.0.5"]\\ndef @main(%xs: List[int32]) { @length(%xs) }'
assert relay.parse(text)
executable.save("model.rlx")
assert relay.load("model.rlx")(np.ones((2, 4), np.float32)).shape == (2, 4)
executable.export("model.so")
row, result = np.ones((1, 4), np.float32), np.empty((1, 4), np.float32)
run = ctypes.CDLL("./model.so").model_run
assert run((ctypes.c_void_p * 2)(row.ctypes.data, result.ctypes.data), (ctypes.c_int64 * 1)(1)) == 0
np.testing.assert_allclose(result, np.full((1, 4), 0.25), rtol=1e-6)
try:
    relay.frontend.from_onnx("model.onnx")
except relay.RelayError as error:
    assert error.remedy == 'pip install "relay-ir[onnx]"', error
print(f"Python {sys.version.split()[0]}: relay {relay.__version__} works")
"""


def try_wheel(wheel: Path, interpreter: str) -> None:
    """Install the wheel for an interpreter, and use it. Raises CalledProcessError."""
    with tempfile.TemporaryDirectory() as folder:
        environment = Path(folder, "environment")
        subprocess.run([interpreter, "-m", "venv", environment], check=True)
        python = environment / "bin" / "python"
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel.resolve()]
        subprocess.run(install, check=True)
        clean = {"PATH": f"{environment / 'bin'}:/usr/bin:/bin", "HOME": folder}
        subprocess.run([python, "-c", USE], cwd=folder, env=clean, check=True)
        subprocess.run([environment / "bin" / "relay", "doctor"], cwd=folder, env=clean, check=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description="Try a wheel in clean environments.")
    arguments.add_argument("wheel", type=Path)
    arguments.add_argument("interpreters", nargs="+")
    options = arguments.parse_args()
    tried = 0
    for interpreter in options.interpreters:
        if shutil.which(interpreter) is None:
            print(f"{interpreter}: not here")
            continue
        try_wheel(options.wheel, interpreter)
        tried += 1
    if not tried:
        raise SystemExit("none of the interpreters is here")


if __name__ == "__main__":
    main()
