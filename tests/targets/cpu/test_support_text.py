"""The text of the support library is what its C gives, and LLVM takes it for every machine."""

from __future__ import annotations

from dataclasses import replace

import pytest

from relay.base.target import Target
from relay.targets.cpu.codegen import emit_object, optimization_level
from relay.targets.cpu.host import resolve
from relay.targets.cpu.support.generate import UNITS, Unit, generated_text
from relay.targets.cpu.support.library import heap_text, support_text, tiles_text, values_text

TRIPLES = (
    "x86_64-unknown-linux-gnu", "x86_64-apple-darwin", "x86_64-pc-windows-msvc", "aarch64-unknown-linux-gnu",
    "riscv64-unknown-linux-gnu",
)  # fmt: skip


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_the_text_is_made_of_the_c(unit: Unit):
    kept = unit.path.read_text(encoding="utf-8")
    assert kept == generated_text(unit), "run `python -m relay.targets.cpu.support.generate` and read the difference"


def test_nothing_else_is_kept():
    assert {unit.path for unit in UNITS} == set(UNITS[0].path.parent.iterdir())


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_the_text_is_of_no_machine(unit: Unit):
    kept = unit.path.read_text(encoding="utf-8")
    for words in ("target triple", "target datalayout", "target-", "attributes #", "!", "llvm.x86", "dso_local"):
        assert words not in kept
    assert optimization_level(kept) == 2, "vectors would tell that the loops of a program are written in vectors too"


@pytest.mark.parametrize("triple", TRIPLES)
def test_the_text_compiles_for_machine(triple: str):
    target = resolve(Target.parse(f"llvm -mtriple={triple}"))
    checked = replace(target, heap="checked")
    texts = [support_text(target), support_text(target, serial=True), values_text(), tiles_text()]
    texts += [heap_text(each, deep) for each in (target, checked) for deep in (False, True)]
    for text in texts:
        assert emit_object(text, target)
