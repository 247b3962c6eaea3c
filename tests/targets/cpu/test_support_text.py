"""The text of the support library is what its C gives, and LLVM takes it for every machine."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain
from pathlib import Path

import llvmlite.binding as llvm
import pytest

from relay.base.target import Target
from relay.runtime.values import heap
from relay.targets.cpu.codegen import emit_object
from relay.targets.cpu.host import resolve
from relay.targets.cpu.support.generate import UNITS, Unit, generated_text
from relay.targets.cpu.support.library import heap_text, support_text, tiles_text, values_text

TRIPLES = (
    "x86_64-unknown-linux-gnu", "x86_64-apple-darwin", "x86_64-pc-windows-msvc", "aarch64-unknown-linux-gnu",
    "riscv64-unknown-linux-gnu",
)  # fmt: skip

OFFSETS = {
    "struct heap, stack_end": heap.STACK_END_OFFSET_BYTES,
    "struct heap, status": heap.STATUS_OFFSET_BYTES,
    "struct heap, result": heap.RESULT_OFFSET_BYTES,
    "struct heap, failure_target": heap.JUMP_OFFSET_BYTES,
    "struct heap, only_once": heap.ONCE_OFFSET_BYTES,
    "struct heap, host": heap.HOST_OFFSET_BYTES,
    "struct heap, refused_index": heap.INDEX_OFFSET_BYTES,
    "struct heap, first_chunk[FIRST_CHUNK_BYTES]": heap.HEAP_BYTES,
    "struct object, label": heap.LABEL_OFFSET_BYTES,
    "struct object, fields": heap.FIELDS_OFFSET_BYTES,
    "struct tensor, data": heap.DATA_OFFSET_BYTES,
    "struct tensor, extents": heap.EXTENTS_OFFSET_BYTES,
}


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
    assert not re.search(r"<\d+ x ", kept), "vectors are made for a machine"


@pytest.mark.parametrize("unit", UNITS[2:], ids=lambda unit: unit.name)
def test_what_is_part_of_programs_takes_no_name_of_theirs(unit: Unit):
    module = llvm.parse_assembly(unit.path.read_text(encoding="utf-8"))
    symbols = chain(module.functions, module.global_variables)
    names = {each.name for each in symbols if not each.is_declaration}
    assert names
    assert all(name.startswith("relay_") for name in names), names


def test_the_c_and_the_runtime_agree_on_where_things_are(tmp_path: Path):
    """The C is refused where it has a field elsewhere than the emitted code and the runtime look for it."""
    asserts = [f'_Static_assert(offsetof({field}) == {at}, "{field}");' for field, at in OFFSETS.items()]
    file = tmp_path / "offsets.c"
    file.write_text("\n".join(['#include "heap/heap.h"', *asserts, "int agrees;"]), encoding="utf-8")
    assert "@agrees" in generated_text(Unit("offsets", str(file)))


@pytest.mark.parametrize("triple", TRIPLES)
def test_the_text_compiles_for_machine(triple: str):
    target = resolve(Target.parse(f"llvm -mtriple={triple}"))
    checked = replace(target, heap="checked")
    texts = [support_text(target), support_text(target, serial=True), values_text(), tiles_text()]
    texts += [heap_text(each, deep) for each in (target, checked) for deep in (False, True)]
    for text in texts:
        assert emit_object(text, target)
