"""The text of one LLVM function while it is being written.

Pure instructions are numbered by their text: asking twice for `fadd float %a, %b` gives one instruction, as long as the
first stands where it dominates the second. *Regions* say where that is: a region is a stretch of code with one entry
(the function, the body of a loop, an arm of a branch). Names made inside a region are forgotten when it closes.

A region has a *prologue*, at its beginning. What depends only on names known there (addresses, mostly) is put into the
outermost prologue where its operands are known, so nothing is computed in a loop that could be computed before it.
"""

from __future__ import annotations

from dataclasses import field

from relay.base.frozen import frozen, mutable
from relay.targets.cpu.emit.numbers.typenames import constant, mangled, vector_of

HERE = 1 << 30  # the depth of a value that depends on the point where it was computed


@frozen
class LlvmModule:
    """A module as text, and what the text would have to be searched for: its name, and whether it is written in
    vectors."""

    name: str
    text: str
    has_vectors: bool = False

    @property
    def optimization_level(self) -> int:
        """How much LLVM has to do. A kernel written in vectors needs only its stack slots turned into registers (level
        1: more makes it no faster and takes two to five times as long). Scalar loops are left to LLVM's vectorizer
        (level 2: five to ten times faster, small kernels as they are)."""
        return 1 if self.has_vectors else 2


@mutable(eq=True)
class ModuleText:
    """The functions and declarations of one kernel's module, in the order they were asked for."""

    name: str
    declarations: dict[str, str] = field(default_factory=dict)
    globals: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    helpers: dict[str, str] = field(default_factory=dict)
    outlined: int = 0
    has_vectors: bool = False

    def declare(self, name: str, signature: str) -> None:
        """`signature` is the text after `declare`."""
        self.declarations.setdefault(name, signature)

    def render(self) -> str:
        lines = [f'source_filename = "{self.name}"', ""]
        lines.extend(self.globals)
        lines.extend(self.functions)
        lines.extend(self.helpers.values())
        lines.extend(f"declare {self.declarations[name]}" for name in sorted(self.declarations))
        lines.append("")
        lines.append("!0 = !{}")
        return "\n".join(lines) + "\n"

    def finished(self) -> LlvmModule:
        return LlvmModule(self.name, self.render(), self.has_vectors)


@mutable(eq=True)
class Region:
    prologue: list[str]
    names: list[str] = field(default_factory=list)
    hoisted: list[str] = field(default_factory=list)
    addresses: list[object] = field(default_factory=list)
    loads: list[tuple[object, str]] = field(default_factory=list)


class FunctionText:
    """Lines of one function, as they are made."""

    __slots__ = (
        "_addresses",
        "_allocas",
        "_available",
        "_count",
        "_hoisted",
        "_items",
        "_loads",
        "block",
        "module",
        "regions",
    )

    def __init__(self, module: ModuleText) -> None:
        self.module = module
        self._allocas: list[str] = []
        self._items: list[str | list[str]] = []
        self._available: dict[str, str] = {}  # made at the point where they were asked for
        self._hoisted: dict[str, tuple[str, int]] = {}  # made in the prologue of the region at a depth
        self._addresses: dict[object, str] = {}
        self._loads: dict[object, dict[str, str]] = {}
        self._count = 0
        self.block = "entry"
        self.regions: list[Region] = []
        self.open_region()

    # Regions

    @property
    def depth(self) -> int:
        return len(self.regions) - 1

    def open_region(self) -> None:
        region = Region([])
        self.regions.append(region)
        self._items.append(region.prologue)

    def close_region(self) -> None:
        region = self.regions.pop()
        for text in region.names:
            del self._available[text]
        for text in region.hoisted:
            del self._hoisted[text]
        for key in region.addresses:
            del self._addresses[key]
        for key, text in region.loads:
            self._loads.get(key, {}).pop(text, None)

    # Instructions

    def fresh(self) -> str:
        self._count += 1
        return f"%v{self._count}"

    def op(self, instruction: str) -> str:
        """The name of a pure instruction's value, at this point or before it."""
        name = self._available.get(instruction) or self._hoisted.get(instruction, ("", 0))[0]
        if not name:
            name = self.fresh()
            self._items.append(f"  {name} = {instruction}")
            self._available[instruction] = name
            self.regions[-1].names.append(instruction)
        return name

    def op_at(self, depth: int, instruction: str) -> str:
        """Like `op`, put into the prologue of region `depth`, where its operands must be known."""
        if depth >= len(self.regions):
            return self.op(instruction)
        name, known_depth = self._hoisted.get(instruction, ("", 0))
        if name and known_depth <= depth:
            return name
        if name:  # made in a region inside of this one
            self.regions[known_depth].hoisted.remove(instruction)
        name = self.fresh()
        region = self.regions[depth]
        region.prologue.append(f"  {name} = {instruction}")
        self._hoisted[instruction] = name, depth
        region.hoisted.append(instruction)
        return name

    def impure(self, instruction: str) -> str:
        """The name of an instruction that must run here."""
        name = self.fresh()
        self._items.append(f"  {name} = {instruction}")
        return name

    def effect(self, line: str) -> None:
        self._items.append(f"  {line}")

    def known_address(self, key: object) -> str | None:
        """The name of the address that `key` stands for, if it has been computed where this point can use it."""
        return self._addresses.get(key)

    def know_address(self, depth: int, key: object, name: str) -> None:
        """`name` is what `key` stands for, from the prologue of region `depth` on. What depends on the point where it
        was computed is not remembered."""
        if depth < len(self.regions) and key not in self._addresses:
            self._addresses[key] = name
            self.regions[depth].addresses.append(key)

    def load(self, key: object, instruction: str) -> str:
        """A load from what `key` stands for, unless it is known since before and nothing was stored there."""
        known = self._loads.setdefault(key, {})
        name = known.get(instruction)
        if name is None:
            name = known[instruction] = self.impure(instruction)
            self.regions[-1].loads.append((key, instruction))
        return name

    def forget_loads(self, key: object) -> None:
        """Something was stored in what `key` stands for."""
        if key in self._loads:
            self._loads[key] = {}

    def forget_all_loads(self) -> None:
        self._loads.clear()

    def alloca(self, bytes_: int, alignment: int = 64) -> str:
        """The address of `bytes_` on the stack, allocated once per call."""
        name = self.fresh()
        self._allocas.append(f"  {name} = alloca [{bytes_} x i8], align {alignment}")
        return name

    def alloca_type(self, kind: str) -> str:
        """The address of one `kind` on the stack."""
        name = self.fresh()
        self._allocas.append(f"  {name} = alloca {kind}, align 64")
        return name

    def insert_later(self, lines: list[str]) -> None:
        """Hold a place for lines that are known only later: the caller fills the list."""
        self._items.append(lines)

    # Blocks

    def label(self, stem: str) -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def start_block(self, label: str) -> None:
        self._items.append(f"{label}:")
        self.block = label

    def jump(self, label: str) -> None:
        self.effect(f"br label %{label}")

    def branch(self, condition: str, then: str, otherwise: str) -> None:
        self.effect(f"br i1 {condition}, label %{then}, label %{otherwise}")

    # Intrinsics and constants

    def intrinsic(self, name: str, element: str, lanes: int, *operands: str) -> str:
        """A pure intrinsic whose operands and result have one type: `llvm.fma.v8f32`."""
        full = f"llvm.{name}.{mangled(element, lanes)}"
        kind = vector_of(element, lanes)
        if full not in self.module.declarations:
            self.module.declare(full, f"{kind} @{full}({', '.join([kind] * len(operands))})")
        arguments = ", ".join([f"{kind} {operand}" for operand in operands])
        return self.op(f"call {kind} @{full}({arguments})")

    def splat(self, element: str, lanes: int, scalar: str) -> str:
        """`scalar` in every lane."""
        if lanes == 1:
            return scalar
        if scalar[0] != "%":
            return f"splat ({element} {scalar})"
        kind = vector_of(element, lanes)
        first = self.op(f"insertelement {kind} poison, {element} {scalar}, i64 0")
        zeros = constant(0, "i32", lanes)
        return self.op(f"shufflevector {kind} {first}, {kind} poison, <{lanes} x i32> {zeros}")

    def render(self, header: str) -> str:
        """The function's whole text; `header` is what stands before the body."""
        return f"{header} {self.render_body()}"

    def render_body(self) -> str:
        """What stands between the braces, and they."""
        lines = ["{", "entry:", *self._allocas]
        for item in self._items:
            if isinstance(item, str):
                lines.append(item)
            else:
                lines.extend(item)
        lines.append("}\n")
        return "\n".join(lines)
