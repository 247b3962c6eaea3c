"""`relay`: compile, run, show and bench models from the shell.

Exit codes: 0 done, 1 the user's error, 2 wrong usage, 70 a bug of the compiler.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from relay.base.diagnostics import CompilerBug, RelayError
from relay.base.version import VERSION
from relay.cli import bench, compile, run, show

USER_ERROR, COMPILER_BUG, INTERRUPTED = 1, 70, 130


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    root = argparse.ArgumentParser(prog="relay", description="Compile, run, show and bench machine-learning models.")
    root.add_argument("--version", action="version", version=f"relay {VERSION}")
    commands = root.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in (compile, run, show, bench):
        command.add_command(commands)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; gives the exit code."""
    options = parser().parse_args(arguments)
    try:
        options.execute(options)
    except RelayError as error:
        _report(options, "error", str(error), rule=error.rule)
        return USER_ERROR
    except CompilerBug as bug:
        _report(options, "bug", str(bug), stage=bug.stage)
        return COMPILER_BUG
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
    return 0


def _report(options: argparse.Namespace, kind: str, message: str, **details: str) -> None:
    if getattr(options, "json", False):
        print(json.dumps({kind: {"message": message, **details}}))
    else:
        print(message, file=sys.stderr)
