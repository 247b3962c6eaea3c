import os
import subprocess
import sys
from pathlib import Path

import pytest

from relay.base.diagnostics import RelayError
from relay.base.span import Source, Span


def test_the_source_is_read_for_the_message_alone(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    error = RelayError(rule="bad", message="it is bad", span=Span(Source(str(path)), 1))
    path.write_text("x = 1\n")
    assert str(error.at(None)) == f"error[bad]: it is bad\n  at {path}:1\n    x = 1"
    assert repr(error) == "RelayError('bad', 'it is bad')"


WRONG = """\
import relay

def model():
    return relay.nn.dense(relay.var("x", shape=(1, 3)), relay.var("w", shape=(4, 5)))

try:
    model()
except relay.RelayError as error:
    print("".join(error._render_traceback_()), error.__traceback__.tb_next.tb_next is not None)
model()
"""


@pytest.mark.parametrize("whole", [False, True])
def test_a_traceback_shows_the_frames_of_the_user(tmp_path: Path, whole: bool) -> None:
    (tmp_path / "model.py").write_text(WRONG)
    environment = {**os.environ, "RELAY_WHOLE_TRACEBACKS": "1" if whole else ""}
    ended = subprocess.run([sys.executable, "model.py"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    frames = [line.split(", in ")[1] for line in ended.stderr.splitlines() if line.startswith("  File")]
    assert frames[:2] == ["<module>", "model"]
    assert (len(frames) > 2) == whole
    assert "relay.base.diagnostics.RelayError: error[axes-differ]: nn.dense" in ended.stderr
    assert ended.stdout.count("  File") == 2  # of a notebook, too
    assert ended.stdout.endswith("True\n")  # whoever catches the error finds all frames


CALLED_BACK = """\
import relay

def mine():
    raise KeyError("first")

try:
    mine()
except KeyError as error:
    raise relay.RelayError(rule="mine", message="it is mine") from error
"""


def test_what_an_error_came_from_is_shown_where_users_raised_it(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(CALLED_BACK)
    ended = subprocess.run([sys.executable, "model.py"], cwd=tmp_path, capture_output=True, text=True)
    assert "KeyError: 'first'\n\nThe above exception was the direct cause" in ended.stderr
    assert ended.stderr.endswith("error[mine]: it is mine\n")


def test_who_shows_errors_in_a_way_of_their_own_goes_on_to(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("import sys\nsys.excepthook = lambda *given: print('mine')\n" + WRONG)
    ended = subprocess.run([sys.executable, "model.py"], cwd=tmp_path, capture_output=True, text=True)
    assert ended.stdout.endswith("mine\n")
