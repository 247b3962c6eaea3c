"""LLVM text to object code: the one place where LLVM's passes and code generator run.

This file imports nothing but llvmlite, and is run by path in the compile workers, so that starting one does not import
the compiler.
"""

from __future__ import annotations

import sys
from functools import cache

import llvmlite.binding as llvm

GREETING = b"relay compile worker\n"
"""What a worker writes first: it is there, and has found LLVM."""


@cache
def target_machine(triple: str, cpu: str, features: str, opt: int = 2) -> llvm.TargetMachine:
    """LLVM's code generator for a machine, position-independent so that objects fit in shared libraries. At level 0 it
    selects instructions one by one, in a tenth of the time."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    found = llvm.Target.from_triple(triple)
    return found.create_target_machine(cpu=cpu, features=features, opt=opt, reloc="pic", codemodel="small")


@cache
def _passes(triple: str, cpu: str, features: str) -> tuple[llvm.FunctionPassManager, llvm.PassBuilder]:
    """What pays: stack slots to registers, the rest being done when the text is written."""
    machine = target_machine(triple, cpu, features)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1))
    manager = llvm.create_new_function_pass_manager()
    manager.add_sroa_pass()
    return manager, builder


def optimize(text: str, triple: str, cpu: str, features: str, opt: int) -> llvm.ModuleRef:
    """The parsed and optimized module. Raises RuntimeError with LLVM's message for text that is not well-formed."""
    machine = target_machine(triple, cpu, features)
    module = llvm.parse_assembly(text)
    module.triple = triple
    module.data_layout = str(machine.target_data)
    module.verify()
    if opt >= 2:
        options = llvm.create_pipeline_tuning_options(speed_level=opt)
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
    elif opt == 1:
        manager, builder = _passes(triple, cpu, features)
        for function in module.functions:
            if not function.is_declaration:
                manager.run(function, builder)
    return module


def object_bytes(text: str, triple: str, cpu: str, features: str, opt: int) -> bytes:
    """The object file of a module of LLVM text."""
    module = optimize(text, triple, cpu, features, opt)
    image = target_machine(triple, cpu, features, 2 if opt else 0).emit_object(module)
    module.close()
    return image


def assembly_text(text: str, triple: str, cpu: str, features: str, opt: int) -> str:
    """The machine instructions, to be read."""
    return target_machine(triple, cpu, features).emit_assembly(optimize(text, triple, cpu, features, opt))


def _read(length: int) -> bytes:
    data = sys.stdin.buffer.read(length)
    if len(data) < length:
        raise EOFError
    return data


def _read_text() -> str:
    return _read(int.from_bytes(_read(8), "little")).decode()


def serve() -> None:
    """Compile what comes on standard input until it ends.

    request   triple, cpu, features, opt, text: each a length of 8 bytes (little-endian) and UTF-8
    reply     status (1 byte: 0 done, 1 refused), length of 8 bytes, object file or LLVM's message
    """
    sys.stdout.buffer.write(GREETING)
    sys.stdout.buffer.flush()
    while True:
        try:
            triple, cpu, features, opt, text = (_read_text() for _ in range(5))
        except EOFError:
            return
        try:
            status, reply = 0, object_bytes(text, triple, cpu, features, int(opt))
        except RuntimeError as error:
            status, reply = 1, str(error).encode()
        sys.stdout.buffer.write(bytes([status]) + len(reply).to_bytes(8, "little") + reply)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    serve()
