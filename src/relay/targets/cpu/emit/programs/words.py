"""The words of a procedure's registers, and what they speak of: scalars in their bits, objects on the heap."""

from __future__ import annotations

from relay.lower.program.place import Address, Held, Register, Scalar, register_of
from relay.runtime.values.heap import DATA_OFFSET_BYTES, FIELDS_OFFSET_BYTES
from relay.targets.cpu.emit.text import FunctionText


def name(held: Held | Address) -> str:
    return f"%r{register_of(held).number}"


def at(text: FunctionText, address: str, offset_bytes: int) -> str:
    """The address so many bytes behind another."""
    return text.impure(f"getelementptr i8, ptr {address}, i64 {offset_bytes}")


def pointer(text: FunctionText, register: Register) -> str:
    """The address of an object."""
    return text.impure(f"inttoptr i64 {name(register)} to ptr")


def field_slot(text: FunctionText, source: Register, index: int) -> str:
    """Where an object has its field number `index`."""
    return at(text, pointer(text, source), FIELDS_OFFSET_BYTES + 8 * index)


def data_address(text: FunctionText, tensor: Register) -> str:
    """The address of the data of a tensor."""
    slot = at(text, pointer(text, tensor), DATA_OFFSET_BYTES)
    return text.impure(f"load ptr, ptr {slot}, align 8")


def load_scalar(text: FunctionText, scalar: Scalar, address: str) -> None:
    """Define the register of a scalar by what stands in memory."""
    bits = 8 * scalar.dtype.item_bytes
    if bits == 64:
        text.effect(f"{name(scalar)} = load i64, ptr {address}, align 8")
    else:
        narrow = text.impure(f"load i{bits}, ptr {address}, align {bits // 8}")
        text.effect(f"{name(scalar)} = zext i{bits} {narrow} to i64")


def store_scalar(text: FunctionText, scalar: Scalar, address: str) -> None:
    bits, value = 8 * scalar.dtype.item_bytes, name(scalar)
    if bits < 64:
        value = text.impure(f"trunc i64 {value} to i{bits}")
    text.effect(f"store i{bits} {value}, ptr {address}, align {bits // 8}")


def scalar_slot(text: FunctionText, scalar: Scalar) -> str:
    """Where kernels read a scalar: memory that holds it."""
    slot = text.alloca(8, alignment=16)
    store_scalar(text, scalar, slot)
    return slot
