"""A peer in a process of its own, so that its threads and its memory are not those of relay.

    python -m relay.testing.measuring.peer_process NAME MODEL INPUTS.npz DTYPES THREADS

That process makes the call, and says so by a line of JSON; for each line that it then reads it takes a turn, waits
until its threads wait too, and prints the seconds. It ends when its input does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, cast

import numpy as np

from relay.base.diagnostics import RelayError
from relay.base.dtypes import dtype_of
from relay.testing.measuring.measure import Turns, rest
from relay.testing.measuring.peers import PEERS, Arrays

_ERROR_LINES = 5


class PeerProcess:
    """A candidate of `interleaved`: a peer on a model, with so many threads. It runs while the context is open.

    Raises `RelayError`, when it is opened: what making the call raises there (`missing-package`, `peer-cannot`,
    `unknown-model-kind`), and `peer-failed`.
    """

    def __init__(self, name: str, model: Path, inputs: Arrays, threads: int) -> None:
        self.name, self.model, self.inputs, self.threads = name, model, inputs, threads

    def __enter__(self) -> PeerProcess:
        with tempfile.TemporaryDirectory() as folder:
            inputs = Path(folder, "inputs.npz")
            np.savez(inputs, *self.inputs.values())
            dtypes = json.dumps({name: dtype_of(array.dtype) for name, array in self.inputs.items()})
            words = (self.name, str(self.model), str(inputs), dtypes, str(self.threads))
            self._errors = tempfile.TemporaryFile()
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, *words],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True,
            )  # fmt: skip
            try:
                self._answer()  # it has read its inputs
            except BaseException:
                self.__exit__(None, None, None)
                raise
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._process.kill()
        self._process.communicate()
        self._errors.close()

    def turn(self) -> float:
        """Seconds of a call, by the clock of the other process."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write("\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # there is no answer, and that says why
        return float(self._answer()["seconds"])

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._errors.seek(0)
            said = self._errors.read().decode(errors="replace").strip().splitlines()
            raise RelayError(
                rule="peer-failed", message=f"{self.name} ended with {self.model}",
                found="\n".join(said[-_ERROR_LINES:]) or f"exit code {self._process.wait()}",
            )  # fmt: skip
        answer = cast("dict[str, Any]", json.loads(line))
        if "error" in answer:
            raise RelayError(**answer["error"])
        return answer


def main(name: str, model: str, inputs: str, dtypes: str, threads: str) -> None:
    """Take turns, as the lines that are read ask for."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # libraries print what they like

    def say(answer: dict[str, Any]) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    try:
        with np.load(inputs) as arrays:  # files of NumPy do not tell its newer types apart
            pairs = zip(json.loads(dtypes).items(), arrays.values(), strict=True)
            given = {each: array.view(dtype_of(dtype).numpy) for (each, dtype), array in pairs}
        call = PEERS[name].make_call(Path(model), given, int(threads))
        turns = Turns(call)
    except RelayError as error:
        facts = {each: getattr(error, each) for each in ("rule", "message", "expected", "found", "remedy")}
        say({"error": facts})
        return
    rest()
    say({"ready": True})
    for _ in sys.stdin:
        seconds = turns.turn()
        rest()
        say({"seconds": seconds})


if __name__ == "__main__":
    words: Sequence[str] = sys.argv[1:]
    main(*words)
