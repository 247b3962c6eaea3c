"""Object code and assembly of one kernel, for a `CpuTarget`."""

from __future__ import annotations

from relay.base.diagnostics import CompilerBug, RelayError
from relay.targets.cpu.cache import KernelCache, cache_key
from relay.targets.cpu.object_code import assembly_text, object_bytes, target_machine
from relay.targets.cpu.target import CpuTarget


def machine_words(target: CpuTarget) -> tuple[str, str, str]:
    """`(triple, cpu, features)` as LLVM takes them. Raises `RelayError` (rule `unsupported-target`)."""
    if not target.is_resolved:
        raise CompilerBug("codegen", f"the target `{target}` has not been resolved")
    try:
        target_machine(*target.words)
    except RuntimeError as error:
        raise RelayError(
            rule="unsupported-target",
            message="LLVM has no code generator for this target",
            expected="a triple such as x86_64-unknown-linux-gnu or aarch64-unknown-linux-gnu",
            found=target.triple,
            remedy=str(error).strip(),
        ) from None
    return target.words


def kept_object(text: str, target: CpuTarget, opt: int) -> bytes:
    """`emit_object`, or what was kept of it when this text was compiled before."""
    cache = KernelCache.from_environment()
    if cache is None:
        return emit_object(text, target, opt)
    key = cache_key(text, target, opt)
    image = cache.get(key)
    if image is None:
        image = emit_object(text, target, opt)
        cache.put(key, image)
    return image


def emit_object(text: str, target: CpuTarget, opt: int = 2) -> bytes:
    """The object file of a module of LLVM text, optimized by LLVM's level `opt` (0 to 3). The same text and target give
    the same bytes."""
    words = machine_words(target)
    try:
        return object_bytes(text, *words, opt)
    except RuntimeError as error:
        raise CompilerBug("codegen", f"LLVM refuses the text: {str(error).strip()}") from None


def emit_assembly(text: str, target: CpuTarget, opt: int = 2) -> str:
    """The machine instructions of a module of LLVM text."""
    words = machine_words(target)
    try:
        return assembly_text(text, *words, opt)
    except RuntimeError as error:
        raise CompilerBug("codegen", f"LLVM refuses the text: {str(error).strip()}") from None
