"""What is left behind when LLVM ends the process that compiles a kernel: a bug that names the kernel, and a folder to
see it again."""

from __future__ import annotations

import hashlib

from relay.base.diagnostics import CompilerBug
from relay.targets.cpu.emit.text import LlvmModule
from relay.transform.framework.context import PassContext
from relay.transform.framework.failure import repro_parent

_SCRIPT = '''\
"""LLVM did not survive `kernel.ll`: this runs it again."""

from pathlib import Path

from relay.targets.cpu.object_code import object_bytes

text = (Path(__file__).parent / "kernel.ll").read_text(encoding="utf-8")
object_bytes(text, {triple!r}, {cpu!r}, {features!r}, opt={opt})
'''


def lost_kernel(
    module: LlvmModule, words: tuple[str, str, str], description: str, reason: str, said: str
) -> CompilerBug:
    """The bug, and its folder: the LLVM text `kernel.ll`, the kernel and its schedule as `kernel.txt`, how it ended as
    `failure.txt`, and `reproduce.py`, which ends in the same way."""
    triple, cpu, features, opt = *words, module.optimization_level
    digest = hashlib.sha256("\0".join((*words, str(opt), module.text)).encode()).hexdigest()[:16]
    folder = repro_parent(PassContext.current()) / f"repro_{digest}"
    folder.mkdir(parents=True, exist_ok=True)
    script = _SCRIPT.format(triple=triple, cpu=cpu, features=features, opt=opt)
    for file, content in (
        ("kernel.ll", module.text),
        ("kernel.txt", f"{description}\n"),
        ("failure.txt", f"{reason}\n{said}\n"),
        ("reproduce.py", script),
    ):
        (folder / file).write_text(content, encoding="utf-8")
    last = said.splitlines()[-1] if said else ""
    message = f"the process that compiled the kernel {module.name} {reason}" + (f": {last}" if last else "")
    return CompilerBug("LLVM", f"{message}; `python reproduce.py` ends in the same way", str(folder))
