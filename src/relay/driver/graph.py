"""From a program, or a region of one, to a graph of kernels: the kernel calls of the Program, as nodes that a person
recognises.

Nothing is planned or lowered anew: a node is a kernel call, and its place is the one that the Program gives it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from relay.arith.expr import IntExpr
from relay.base.arguments import expect
from relay.base.diagnostics import CompilerBug, RelayError
from relay.base.dtypes import DType
from relay.base.frozen import mutable
from relay.base.names.fresh_names import FreshNames
from relay.base.names.near_names import near_names
from relay.base.target import Target
from relay.driver.compilation import Compilation
from relay.driver.program import TARGET, GivenProgram, checked_params, given_program
from relay.driver.progress import Progress, carried
from relay.driver.region_specs import named_regions
from relay.driver.straight import check_straight
from relay.driver.targets import targets_for
from relay.infer.infer_type import infer_type
from relay.ir.expr import Function
from relay.ir.known_types import known_tensor_type, known_type
from relay.ir.module import IRModule
from relay.ir.types import TensorType
from relay.lower.kernels.group import leaf_types
from relay.lower.kernels.index_faults import FAULT, FAULT_TYPE, index_user
from relay.lower.planning.kernel_calls import size_bytes
from relay.lower.program.place import AddressPlace, ArenaPlace, ConstantPlace, Place, Scalar, register_of
from relay.lower.program.program import Parameter, Program
from relay.lower.program.region import CallKernel, CheckIndex, CopyBytes, RunRegion
from relay.runtime.artefact.artefact import Artefact
from relay.runtime.artefact.manifest import Manifest, TupleSpec
from relay.runtime.artefact.work import ArenaBuffer
from relay.runtime.graph.folder import GRAPH_DIGEST, graph_digest
from relay.runtime.graph.graph import APART, NOTHING, Entry, Graph, GraphNode, GraphTensor
from relay.runtime.graph.graph_executor import GraphExecutor
from relay.transform.framework.context import PassContext
from relay.transform.functions.inline import calls_in_place


def build_graph(
    program: GivenProgram,
    target: str | Target = "llvm",
    params: Mapping[str, Any] | None = None,
    opt_level: int | None = None,
    progress: Progress | None = None,
    region: str | None = None,
) -> GraphExecutor:
    """Compile a program to a graph of kernels, and load it; arguments are those of `relay.build`.

    Of a program with branches, recursion or data, a `region` can be looked at, under the name that its profile gives it
    (`@loop, region 1`). Its inputs are the tensors and scalars that stood before it, by their registers in
    `relay show --stage program`, its results what it leaves to others, in the order in which they are written.

    >>> import relay
    >>> loop = relay.parse('''#[version = "0.0.5"]
    ... def @loop(%n: int32, %x: Tensor[(3,), float32]) -> Tensor[(3,), float32] {
    ...   if (less(%n, 1)) { %x } else { @loop(subtract(%n, 1), cumsum(nn.softmax(%x), axis=0)) }
    ... }
    ... def @main(%x: Tensor[(3,), float32]) -> Tensor[(3,), float32] { @loop(8, %x) }''')
    >>> executor = build_graph(loop, region="@loop, region 1")
    >>> [each.name for each in executor.entry.inputs]
    ['%1']
    >>> {name: value.shape for name, value in executor.debug_run(**{"%1": np.zeros(3, np.float32)}).items()}
    {'fused_nn_softmax': (3,), 'fused_cumsum': (3,)}

    Raises `RelayError`: `not-a-graph` for a program (or region) that is no straight line of kernels on tensors whose
    extents are numbers, `unknown-region`, and what `relay.build` raises.
    """
    level = PassContext.current().opt_level if opt_level is None else PassContext(opt_level=opt_level).opt_level
    expect(target, TARGET, "what is compiled for")
    module, own = given_program(program)
    bound, targets = {**own, **checked_params(params)}, targets_for(target)
    if region is None:
        compilation = GraphCompilation(module, targets, level, bound)
    else:
        compilation = RegionCompilation(module, targets, level, bound, region=region)
    if progress is not None:
        compilation.progress = carried(progress)
    artefact = compilation.artefact
    graph, constants = compilation.graph
    return GraphExecutor(graph, artefact, constants)


class KernelCompilation(Compilation, ABC):
    """A program of which kernels are run one by one. Each value can be looked at, and other readers of the graph make
    room for each."""

    values_apart = True

    @cached_property
    def graph(self) -> tuple[Graph, dict[str, NDArray[np.generic]]]:
        """The graph, and its parameters by name."""
        return self._made_graph()

    @abstractmethod
    def _made_graph(self) -> tuple[Graph, dict[str, NDArray[np.generic]]]: ...

    @cached_property
    def artefact(self) -> Artefact:
        """The kernels. The manifest has no entries; its provenance tells which graph it is for."""
        objects = self.kernel_objects
        graph, _ = self.graph
        provenance = {**self.provenance, GRAPH_DIGEST: graph_digest(graph.to_json())}
        manifest = Manifest((), provenance, self.targets.host.machine, kernels=self._kernel_works)
        return Artefact(manifest, self.targets.host.support_object(), objects, np.empty(0, np.uint8))

    @property
    def _functions(self) -> dict[str, Function]:
        """What the kernels compute, by name."""
        return {kernel.info.name: kernel.function for kernel in self.kernels}


class GraphCompilation(KernelCompilation):
    """A program on its way to a graph: `@main` alone, whatever it calls put in place, and code of kernels alone."""

    @cached_property
    def typed(self) -> IRModule:
        """The program as given, with functions of any size put where they are called."""
        module = super().typed
        with self._stage("inline"):
            return infer_type(calls_in_place(module, lambda _, __: True))

    @cached_property
    def optimized(self) -> IRModule:
        """`@main`, fused and in A-normal form. Raises `RelayError` (rule `not-a-graph`)."""
        module = super().optimized
        check_straight(module)
        main = module.get_global_var("main")
        return module.with_functions({main: module[main]})

    def _made_graph(self) -> tuple[Graph, dict[str, NDArray[np.generic]]]:
        return make_graph(self.program, self._functions)


@dataclass(eq=False)
class RegionCompilation(KernelCompilation):
    """A program of any form on its way to the graph of one of its regions."""

    region: str = ""

    def _made_graph(self) -> tuple[Graph, dict[str, NDArray[np.generic]]]:
        """Raises `RelayError`: `unknown-region`, `not-a-graph`."""
        return make_region_graph(self.program, self.region, self._functions)


def make_graph(program: Program, functions: Mapping[str, Function]) -> tuple[Graph, dict[str, NDArray[np.generic]]]:
    """The kernel calls of `main` as a graph, and the program's constants as its parameters `p0`, `p1`, …

    `functions` are what the kernels compute, by name.
    """
    main = program.entry("main")
    if not main.is_flat or main.copied is None:
        raise CompilerBug("make graph", "`main` is no straight line")
    procedure = program.procedure(main.procedure)
    (region,) = procedure.regions()
    places = [AddressPlace(register_of(each)) for each in procedure.parameters]
    nodes = _Nodes()
    for parameter, place in zip(main.inputs, places, strict=False):
        if isinstance(parameter, Parameter):
            nodes.argument(parameter.name, place, parameter.type)
    params = nodes.constants(program)
    sources = nodes.run(region, functions)
    outputs = zip(places[len(main.inputs) :], main.outputs, strict=True)
    heads = tuple(nodes.seen(sources.get(place, place), parameter.type) for place, parameter in outputs)
    return Graph(tuple(nodes.made), heads, main.copied), params


def make_region_graph(
    program: Program, name: str, functions: Mapping[str, Function]
) -> tuple[Graph, dict[str, NDArray[np.generic]]]:
    """The kernel calls of a region as a graph; arguments and results as of `make_graph`.

    Raises `RelayError`: `unknown-region`, `not-a-graph`.
    """
    regions = {name: region for procedure in program.procedures for name, region in named_regions(procedure)}
    if name not in regions:
        raise RelayError(
            rule="unknown-region",
            message=f"the program has no region `{name}`",
            expected=f"one of {', '.join(map(repr, regions))}" if regions else "a program that runs kernels",
            remedy=near_names(name, regions),
        )
    region = regions[name]
    for call in region.calls:
        if call.on_device or call.extents:
            what = "runs on a device" if call.on_device else f"has extents ({', '.join(map(str, call.extents))})"
            raise RelayError(
                rule="not-a-graph",
                message=f"the graph executor cannot run `{name}`, whose kernel {call.kernel} {what}",
                expected="kernels on the host, on tensors whose extents are numbers",
                remedy="the profile of the whole program tells of its regions",
            )
    nodes = _Nodes()
    made: dict[Place, TensorType] = {}
    for call in region.calls:
        function = functions[call.kernel]
        for place, parameter in zip(call.inputs, function.params, strict=True):
            is_given = not isinstance(place, ArenaPlace | ConstantPlace) and place not in made
            if is_given and place not in nodes.storages:
                nodes.argument(_name(place), place, known_tensor_type(parameter))
        made.update(zip(call.outputs, _results(function), strict=True))
    params = nodes.constants(program)
    sources = nodes.run(region, functions)
    made.update((place, made[source]) for place, source in sources.items())
    heads = tuple(nodes.seen(sources.get(place, place), type_) for place, type_ in made.items() if _is_left(place))
    result = 0 if len(heads) == 1 else TupleSpec(tuple(range(len(heads))))
    return Graph(tuple(nodes.made), heads, result), params


def _name(place: Place) -> str:
    """As the text of a program says it, without the type."""
    return str(place.register if isinstance(place, Scalar) else place)


def _is_left(place: Place) -> bool:
    """Whether what a region writes there outlives it."""
    return not isinstance(place, ArenaPlace)


def _results(function: Function) -> Sequence[TensorType]:
    return [FAULT_TYPE] if FAULT in function.attrs else leaf_types(known_type(function.body))


@mutable
class _Nodes:
    """The nodes made so far. `written` is which output stands at a place; its size tells empty tensors from what else
    is there. Places that are equal are one storage."""

    made: list[GraphNode] = field(default_factory=list)
    names: FreshNames = field(default_factory=lambda: FreshNames(separator="_", first=1))
    written: dict[tuple[Place, int], Entry] = field(default_factory=dict)
    views: dict[tuple[Entry, GraphTensor], Entry] = field(default_factory=dict)
    storages: dict[Place, int] = field(default_factory=dict)

    def constants(self, program: Program) -> dict[str, NDArray[np.generic]]:
        """Add the program's constants as parameters; gives their values by name."""
        params: dict[str, NDArray[np.generic]] = {}
        for index, constant in enumerate(program.constants):
            type_ = TensorType(constant.array.shape, constant.dtype)
            name = self.argument(f"p{index}", ConstantPlace(constant.offset_bytes), type_)
            params[name] = np.require(constant.array, requirements=("C", "A"))
        return params

    def run(self, region: RunRegion, functions: Mapping[str, Function]) -> dict[Place, Place]:
        """Add the kernel calls of a region; gives those results that are copies, and of what."""
        sources: dict[Place, Place] = {}
        numbers = count()
        for instruction in region.instructions:
            match instruction:
                case CallKernel():
                    self.call(instruction, region.rooms_of_call(next(numbers)), functions[instruction.kernel])
                case CopyBytes(source, destination):
                    sources[destination] = source
                case CheckIndex():
                    pass  # what a node checks follows from its kernel
                case _:
                    assert_never(instruction)
        return sources

    def argument(self, name: str, place: Place, type_: TensorType) -> str:
        """Add an input or a parameter; gives the name of its node."""
        return self._add(name, "", (), [(place, type_)])

    def call(self, call: CallKernel, rooms: Sequence[ArenaBuffer], function: Function) -> None:
        """Add a kernel call, which has `rooms` to work in."""
        sources = zip(call.inputs, function.params, strict=True)
        inputs = tuple(self.seen(place, known_tensor_type(parameter)) for place, parameter in sources)
        results = _results(function)
        name = str(function.attrs.get("name", call.kernel))
        self._add(name, call.kernel, inputs, list(zip(call.outputs, results, strict=True)))
        self.made[-1] = replace(self.made[-1], scratch=tuple(map(self._scratch, rooms)))
        if FAULT in function.attrs:
            self.made[-1] = replace(self.made[-1], checks_index_of=index_user(function))

    def seen(self, place: Place, type_: TensorType) -> Entry:
        """The output that stands at a place. With another shape than it was written it is a node that runs nothing."""
        entry = self.written[place, _size(type_)]
        tensor = self.made[entry[0]].outputs[entry[1]]
        shaped = replace(tensor, shape=_shape(type_), dtype=type_.dtype)
        if shaped == tensor:
            return entry
        if (entry, shaped) not in self.views:
            self.made.append(GraphNode(self.names.take("reshape"), NOTHING, (entry,), (shaped,)))
            self.views[entry, shaped] = (len(self.made) - 1, 0)
        return self.views[entry, shaped]

    def _add(
        self, name: str, kernel: str, inputs: tuple[Entry, ...], results: Sequence[tuple[Place, TensorType]]
    ) -> str:
        tensors: list[GraphTensor] = []
        for index, (place, type_) in enumerate(results):
            tensors.append(self._tensor(place, _shape(type_), type_.dtype))
            self.written[place, _size(type_)] = (len(self.made), index)
        self.made.append(GraphNode(self.names.take(name), kernel, inputs, tuple(tensors)))
        return self.made[-1].name

    def _scratch(self, room: ArenaBuffer) -> GraphTensor:
        return self._tensor(ArenaPlace(room.offset_bytes), (_number(room.size_bytes),), DType.UINT8)

    def _tensor(self, place: Place, shape: tuple[int, ...], dtype: DType) -> GraphTensor:
        return GraphTensor(shape, dtype, self.storages.setdefault(place, len(self.storages)), _offset_bytes(place))


def _offset_bytes(place: Place) -> int:
    return _number(place.offset_bytes) if isinstance(place, ArenaPlace) else APART


def _shape(type_: TensorType) -> tuple[int, ...]:
    return tuple(map(_number, type_.shape))


def _size(type_: TensorType) -> int:
    return _number(size_bytes(type_))


def _number(expr: IntExpr) -> int:
    if not isinstance(expr, int):
        raise CompilerBug("make graph", f"the extent {expr}, which is no number")
    return expr
