"""Object code and assembly of one kernel, for a `Target`."""

from __future__ import annotations

from relay.base.diagnostics import CompilerBug, RelayError
from relay.base.target import Target
from relay.targets.cpu.object_code import assembly_text, object_bytes, target_machine

OPT_LEVEL = 1  # stack slots to registers only; see `object_code`


def machine_words(target: Target) -> tuple[str, str, str]:
    """`(triple, cpu, features)` as LLVM takes them. Raises `RelayError` (rule `unsupported-target`)."""
    if not target.is_resolved:
        raise CompilerBug("codegen", f"the target `{target}` has not been resolved")
    words = (target.triple, target.cpu, ",".join(target.features))
    try:
        target_machine(*words)
    except RuntimeError as error:
        raise RelayError(
            rule="unsupported-target",
            message="LLVM has no code generator for this target",
            expected="a triple such as x86_64-unknown-linux-gnu or aarch64-unknown-linux-gnu",
            found=target.triple,
            remedy=str(error).strip(),
        ) from None
    return words


def emit_object(text: str, target: Target, opt: int = OPT_LEVEL) -> bytes:
    """The object file of a module of LLVM text. The same text and target give the same bytes."""
    words = machine_words(target)
    try:
        return object_bytes(text, *words, opt)
    except RuntimeError as error:
        raise CompilerBug("codegen", f"LLVM refuses the text: {str(error).strip()}") from None


def emit_assembly(text: str, target: Target, opt: int = OPT_LEVEL) -> str:
    """The machine instructions of a module of LLVM text."""
    words = machine_words(target)
    try:
        return assembly_text(text, *words, opt)
    except RuntimeError as error:
        raise CompilerBug("codegen", f"LLVM refuses the text: {str(error).strip()}") from None
