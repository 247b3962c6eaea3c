"""The LLVM text of the support library, from its C.

    python -m relay.targets.cpu.support.generate

writes `text/*.ll` anew, one for each unit. The text is kept, so that only who changes the C needs a C compiler (clang,
of the package `ziglang`). It says nothing of a machine: what that is called, how it lays out data, and what it can do
are told by whoever compiles the text, which is the same for all 64-bit targets.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from relay.base.frozen import frozen

MODULE = "relay.targets.cpu.support.generate"
FOLDER = Path(__file__).parent


@frozen
class Unit:
    """A file of C, and the macros that make this variant of it."""

    name: str
    source: str
    macros: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        return FOLDER / "text" / f"{self.name}.ll"


UNITS = (
    Unit("library", "library.c"),
    Unit("library_serial", "library.c", ("RELAY_SERIAL",)),
    Unit("heap_reused", "heap/heap.c"),
    Unit("heap_checked", "heap/heap.c", ("RELAY_HEAP_CHECKED",)),
    Unit("stack", "heap/stack.c"),
    Unit("values", "heap/values.c"),
    Unit("tiles", "tiles.c"),
    Unit("device", "device/run.c"),
    Unit("device_tensors", "device/tensors.c"),
    Unit("device_connect", "device/connect.c"),
)

_CLANG = ("cc", "-target", "x86_64-freestanding-none", "-S", "-emit-llvm", "-Wno-unused-command-line-argument")
_DIALECT = ("-std=c11", "-ffreestanding", "-I.", "-fno-strict-aliasing", "-Wall", "-Wextra", "-Werror")
_OPTIMIZATIONS = ("-O2", "-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops")
"""Vectors and unrolled loops are made for a machine."""
_PLAIN_TEXT = (
    "-g0", "-fno-ident", "-fno-discard-value-names", "-fno-finite-loops", "-fno-stack-protector",
    "-fomit-frame-pointer", "-fno-unwind-tables", "-fno-asynchronous-unwind-tables",
    "-Xclang", "-no-enable-noundef-analysis",
)  # fmt: skip
_KEPT_ATTRIBUTES = frozenset(("alwaysinline", "cold", "noinline", "noreturn", "nounwind"))
_DROPPED_LINE = re.compile(
    r"; ModuleID|source_filename|target |@llvm\.(compiler\.)?used|; Function Attrs|attributes|!"
    r"|declare .* @llvm\.|(declare .* )?@relay_target_"
)
"""Intrinsics need no declaration, and what `target.h` declares is defined in what a target adds."""
_DROPPED_WORD = re.compile(r"\b(dso_local|local_unnamed_addr|unnamed_addr|zeroext) |, !\S+ !\d+|\s+; preds.*")
_ATTRIBUTE_GROUP = re.compile(r"attributes #(\d+) = \{ (.*) \}")


def generated_text(unit: Unit) -> str:
    """The text that belongs to the C as it is now."""
    return f"; Made of {unit.source} by `python -m {MODULE}`.\n\n{_plain(_compiled(unit))}"


def _compiled(unit: Unit) -> str:
    """What clang writes."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder, "unit.ll")
        macros = [f"-D{macro}" for macro in unit.macros]
        command = [sys.executable, "-m", "ziglang", *_CLANG, *_DIALECT, *_OPTIMIZATIONS, *_PLAIN_TEXT]
        command += [*macros, "-o", str(result), unit.source]
        subprocess.run(command, cwd=FOLDER, check=True, stdin=subprocess.DEVNULL)
        return result.read_text(encoding="utf-8")


def _plain(text: str) -> str:
    """The text without what ties it to clang's machine, its attributes written out where they matter."""
    groups = {
        number: "".join(f" {word}" for word in words.split() if word in _KEPT_ATTRIBUTES)
        for number, words in _ATTRIBUTE_GROUP.findall(text)
    }
    lines = [_DROPPED_WORD.sub("", line) for line in text.splitlines() if not _DROPPED_LINE.match(line)]
    plain = re.sub(r" #(\d+)", lambda group: groups[group[1]], "\n".join(lines))
    return re.sub(r"\n{3,}", "\n\n", plain).strip() + "\n"


def main() -> None:
    """Write the text of all units."""
    for unit in UNITS:
        unit.path.write_text(generated_text(unit), encoding="utf-8")


if __name__ == "__main__":
    main()
