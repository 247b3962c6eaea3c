"""`relay`: compile, run, show, profile and bench models from the shell; `relay doctor` tells of the machine.

Exit codes: 0 done, 1 the user's error, 2 wrong usage, 70 a bug of the compiler, 130 interrupted.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import signal
import sys
import traceback
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from relay.base.diagnostics import CompilerBug, RelayError
from relay.base.version import VERSION

USER_ERROR, COMPILER_BUG, INTERRUPTED = 1, 70, 130

COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "compile": "compile a model to a shared library or an artefact",
        "run": "run a model on arrays",
        "show": "print a model at a stage of its compilation",
        "profile": "time each operator of a model",
        "bench": "time a model, next to another library if you like",
        "doctor": "tell what is installed and what the machine has",
        "completions": "print what lets a shell complete the words of these commands",
    }
)
"""What each command is for. Its module is loaded only when it is asked for: running a model needs no compiler."""


def parser(command: str = "") -> argparse.ArgumentParser:
    """The command line; with `command`, its options too."""
    root = argparse.ArgumentParser(
        prog="relay", description="Compile, run, show, profile and bench machine-learning models."
    )
    root.add_argument("--version", action="version", version=f"relay {VERSION}")
    commands = root.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, purpose in COMMANDS.items():
        each = commands.add_parser(name, help=purpose, description=f"{purpose[0].upper()}{purpose[1:]}.")
        if name == command:
            importlib.import_module(f"relay.cli.{name}").add_options(each)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; gives the exit code."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        command = next((word for word in words if not word.startswith("-")), "")
        options = parser(command).parse_args(words)
        options.execute(options)
        sys.stdout.flush()
    except RelayError as error:
        _report(words, "error", str(error), rule=error.rule)
        return USER_ERROR
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except Exception as error:
        stage = error.stage if isinstance(error, CompilerBug) else type(error).__name__
        _report(words, "bug", _bug_report(error, words), stage=stage)
        return COMPILER_BUG
    return 0


def _bug_report(error: Exception, words: Sequence[str]) -> str:
    trace = "".join(traceback.format_exception(error)).rstrip()
    return (
        f"{trace}\n\nThis is a bug of relay {VERSION}, not yours. Please report it with these lines, the model and the "
        f"command:\n  relay {' '.join(words)}"
    )


def _report(words: Sequence[str], kind: str, message: str, **details: str) -> None:
    """For people on standard error; with `--json`, for programs on standard output too."""
    print(message, file=sys.stderr)
    if "--json" in words:
        print(json.dumps({kind: {"message": message, **details}}))
