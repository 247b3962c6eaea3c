"""What the compiler asks of the toy accelerator."""

from __future__ import annotations

from typing import ClassVar

from relay import te
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.base.target import Target
from relay.lower.kernels.group import Group
from relay.lower.program.launch import Access, BufferArgument, KernelModule, Launch
from relay.lower.targets import LoopTarget
from relay.te.schedule.step import Step
from relay.te.tensorize import AnyIntrinsic, TensorIntrinsic, View
from relay.tir.buffer import Scope
from relay.tir.expr import Call
from relay.tir.hierarchy import AccessKind, Hierarchy, Instruction, Operand, Queue
from relay.tir.stmt import Evaluate, PrimFunc, Stmt
from toy_accelerator.instructions import ACCUMULATOR_TILES, FORMAT, INPUT_TILES, TILE, TILE_BYTES, encode
from toy_accelerator.schedules import ACCUMULATOR, GEMM, INPUTS, QUEUE, schedule
from toy_accelerator.writing import written

TILE_SHAPE = (TILE, TILE)
MACHINE = Hierarchy(
    levels=("device", "core"),
    scopes=(
        Scope(INPUTS, level="core", capacity_bytes=INPUT_TILES * TILE_BYTES, word_bytes=4, readers=(GEMM,)),
        Scope(ACCUMULATOR, level="core", capacity_bytes=ACCUMULATOR_TILES * TILE_BYTES, word_bytes=4),
    ),
    queues=(Queue(QUEUE, reads=("global",), writes=(INPUTS,)),),
    instructions=(Instruction(GEMM, (Operand(AccessKind.UPDATE, TILE_SHAPE), *(Operand(extents=TILE_SHAPE),) * 2)),),
)


def _gemm() -> TensorIntrinsic:
    left = te.placeholder(TILE_SHAPE, "float32", "left")
    right = te.placeholder(TILE_SHAPE, "float32", "right")
    k = te.reduce_axis(TILE, "k")
    sums = te.compute(TILE_SHAPE, lambda i, j: te.sum(left[i, k] * right[j, k], axis=k), name="sums")

    def emit(inputs: tuple[View, ...], output: View) -> Stmt:
        tiles = (view.block() for view in (output, *inputs))
        return Evaluate(Call(GEMM, tuple(tiles), DType.FLOAT32))

    return TensorIntrinsic(GEMM, sums, (left, right), emit)


@frozen
class ToyAcceleratorKernels(LoopTarget):
    """Kernels that are products of matrices, each a program for the one core."""

    target: Target
    device_kind: ClassVar[str] = "toy_accelerator"
    hierarchy: ClassVar[Hierarchy] = MACHINE
    intrinsics: ClassVar[tuple[AnyIntrinsic, ...]] = (_gemm(),)

    def schedule(self, group: Group) -> tuple[Step, ...]:
        return schedule(group, MACHINE)

    def module(self, function: PrimFunc) -> KernelModule:
        buffers = [
            BufferArgument(position, Access.WRITE if each in function.outputs else Access.READ)
            for position, each in enumerate(function.parameters)
        ]
        return KernelModule(FORMAT, encode(written(function, {})), (Launch(function.name, tuple(buffers)),))
