"""Compilations that are killed at random moments leave their caches and their outputs usable.

`python -m tests.endurance.kills [count] [--seed seed] [--state file]` kills so many. Each works in the caches that
those before it left. After each the output is whole; after some a compilation from these caches runs to its end, and
what it makes is right. The suite runs a slice of it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from relay.runtime.artefact.artefact import Artefact
from tests.driver.processes import environment, python
from tests.endurance import slices

COMPILE = """
import sys
from pathlib import Path
import numpy as np
import relay
output, first, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
x = relay.var("x", shape=(first + count,))
parts = [relay.exp(relay.strided_slice(x, begin=[0], end=[k])) for k in range(first + 1, first + count + 1)]
source = output.with_suffix(".relay")
source.write_text(relay.IRModule.from_expr(relay.Function([x], relay.Tuple(parts))).astext())
executable = relay.compile_model(source)
executable.save(output)
given = np.linspace(-1, 1, first + count, dtype=np.float32)
for k, part in enumerate(executable(given), start=first + 1):
    np.testing.assert_allclose(part, np.exp(given[:k]), rtol=1e-5)
"""
KERNELS, KINDS, WHOLE_EVERY = 12, 20, 10


class Kills:
    """A folder with caches and an output, and how long a compilation takes there."""

    def __init__(self, folder: Path) -> None:
        self._settings = {"RELAY_CACHE_DIR": str(folder / "cache")}
        self._output = folder / "model.rlx"
        self._killed = 0
        begun = time.monotonic()
        self._compile_to_the_end(0)
        self._seconds = time.monotonic() - begun

    def trial(self, random: np.random.Generator) -> str:
        """Kill one compilation: the moments of its whole time are equally likely."""
        first = int(random.integers(KINDS))
        command = [sys.executable, "-c", COMPILE, str(self._output), str(first), str(KERNELS)]
        with subprocess.Popen(command, env=environment(self._settings), stderr=subprocess.DEVNULL) as process:
            try:
                process.wait(random.uniform(0, self._seconds))
            except subprocess.TimeoutExpired:
                process.kill()
        Artefact.load(self._output)
        self._killed += process.returncode != 0
        if self._killed % WHOLE_EVERY == 0:
            self._compile_to_the_end(first)
        return "killed" if process.returncode else "done before it was killed"

    def _compile_to_the_end(self, first: int) -> None:
        python(COMPILE, self._output, str(first), str(KERNELS), **self._settings)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        slices.run("Kill compilations at random moments.", Kills(Path(folder)).trial, 200)


if __name__ == "__main__":
    main()
