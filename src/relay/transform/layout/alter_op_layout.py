"""Run the network in the layout that the target's kernels want: AlterOpLayout.

    before: nn.relu(nn.conv2d(%x, W))                                       data NCHW, kernel OIHW
    after:  %0 = layout_transform(%x, "NCHW", "NHWC")
            %1 = nn.relu(nn.conv2d(%0, layout_transform(W, "OIHW", "OHWI32o"), data NHWC, kernel OHWI32o))
            layout_transform(%1, "NHWC", "NCHW")

Each value is kept in the layouts in which it is needed, and converted at most once to each; what an operator enlarges
is converted in front of it (`early_layout_transforms`). Operators follow by their layout rule: elementwise and
broadcasting ones take the layout of their inputs, those that name axes have the names changed, the others get their
inputs back as they were. What the program, or a rule of the target, converts there and back itself is the same value:
such changes of layout go. What is one-dimensional, NCW, is an image of one row here (`row_convolution`). Constant
weights are packed in blocks of output channels (the packing folds). Depthwise convolutions, and those to few output
channels with what resizes their results, stay as they are where no other convolution takes or makes what they work on
(`convolutions_in_place`). Convolutions of few pixels with kernels that the run brings, and their gradients, become
products with these as they lie (`window_products`). `nn.dense` becomes `nn.contrib_dense_pack`. Other products get
their matrices as kernels read them, the second with columns innermost, by transpositions of their own.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any

from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import mutable
from relay.ir.expr import Call, Constant, Expr, Function, Op, Tuple
from relay.ir.module import IRModule
from relay.ir.rewriting import rebuild_typed, with_body
from relay.ir.traversal import body_nodes, children
from relay.ir.types import TensorType
from relay.ops.framework.build import call, with_known_type
from relay.ops.framework.layout_rule import (
    AxisAttribute,
    Broadcasting,
    Elementwise,
    KernelResult,
    LayoutAttribute,
    OwnLayout,
    PerAxisAttributes,
)
from relay.ops.framework.layouts import parse_layout
from relay.ops.framework.record import OperatorRecord
from relay.ops.manipulation.layout_transform import LayoutTransformAttributes, in_layout, layout_transform
from relay.ops.manipulation.shape import reshape
from relay.ops.manipulation.transpose import transpose
from relay.ops.nn.conv import CONV2D, CONVOLUTIONS, Conv1DAttributes, Conv2DAttributes
from relay.ops.nn.conv_backward_weight import Conv2DBackwardWeightAttributes
from relay.te.schedule.records import ScheduleRecords
from relay.transform.algorithms.convolution_space import chosen_convolution
from relay.transform.algorithms.matrix_products import in_order, in_panels, repeated_matrices
from relay.transform.algorithms.row_convolution import (
    ROWS,
    image_axis,
    image_of,
    image_shape,
    is_row_as_image,
    of_image,
    row_of,
)
from relay.transform.algorithms.window_products import as_product, kernel_gradient_as_product
from relay.transform.framework.context import LayoutPreferences, PassContext
from relay.transform.framework.passes import function_pass
from relay.transform.layout.convolutions_in_place import convolutions_in_place
from relay.transform.layout.early_layout_transforms import with_early_layout_transforms
from relay.transform.layout.kernel_layout import (
    OF_FEW_CHANNELS,
    OPEN,
    kernel_from_open,
    kernel_in_layout,
    layout_of_kernel,
)

_RANK = 4
_ROW_RANK = 3


@function_pass(level=2, floating_point=FloatingPointClass.ROUNDING)
def AlterOpLayout(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
    """Convert convolutions and dense layers to the context's preferred layouts, and what stands between them."""
    in_place = convolutions_in_place(function.body, context.layouts, context.schedules)
    repeated = repeated_matrices(function)
    return relaid(function, Layouts(context.layouts, records=context.schedules, in_place=in_place, repeated=repeated))


def relaid(function: Function, layouts: Layouts) -> Function:
    """A function with its convolutions, and what stands between them, in other layouts; its type stays."""
    for expr in body_nodes(function):
        layouts.visit(expr)
    return with_early_layout_transforms(with_body(function, layouts.plain(function.body)))


@mutable(eq=True)
class Layouts:
    """Each old expression's new versions: as it was, and (of rank-4 values, and of rank 3 as images of one row) in the
    preferred layout.

    `source` is the layout of the convolutions that change. `kernel_layout` is that of their kernels, whatever it was;
    empty: one that a record asks for or that suits the target, of kernels in OIHW. Convolutions `in_place` stay as they
    are where their data do. Of matrices that are `repeated` panels are made once, for all products that read them.
    """

    preferences: LayoutPreferences
    source: str = "NCHW"
    kernel_layout: str = ""
    records: ScheduleRecords = field(default_factory=ScheduleRecords)
    in_place: frozenset[Expr] = frozenset()
    repeated: frozenset[Expr] = frozenset()
    originals: dict[Expr, Expr] = field(default_factory=dict)
    converted: dict[Expr, Expr] = field(default_factory=dict)

    @property
    def order(self) -> tuple[int, ...]:
        """Axis `i` of the preferred layout is axis `order[i]` of NCHW."""
        return tuple(self.source.index(letter) for letter in self.preferences.conv2d_data)

    @property
    def _may_be_products(self) -> bool:
        """Whether convolutions of few pixels are products with their kernels: none asks for a layout of these."""
        return self.preferences.conv2d_data == "NHWC" and not self.kernel_layout

    def plain(self, expr: Expr) -> Expr:
        """The new version of an expression with its axes in their old order."""
        known = self.originals.get(expr)
        if known is None:
            if isinstance(expr, Tuple):
                known = rebuild_typed(expr, [self.plain(each) for each in expr.fields])
            else:
                image = layout_transform(self.converted[expr], self.preferences.conv2d_data, self.source)
                known = row_of(image) if _rank(expr) == _ROW_RANK else image
            self.originals[expr] = known
        return known

    def preferred(self, expr: Expr) -> Expr:
        """The new version of an expression of rank 4, or 3, in the preferred layout."""
        known = self.converted.get(expr)
        if known is None:
            original = self.originals[expr]
            image = image_of(original) if _rank(expr) == _ROW_RANK else original
            known = layout_transform(image, self.source, self.preferences.conv2d_data)
            self.converted[expr] = known
        return known

    def is_preferred(self, expr: Expr) -> bool:
        """Whether the value of an expression is made in the preferred layout."""
        if isinstance(expr, Tuple):
            return any(map(self.is_preferred, expr.fields))
        return expr in self.converted and expr not in self.originals

    def visit(self, expr: Expr) -> None:
        """Make the new version of an expression whose parts have theirs."""
        if isinstance(expr, Tuple):
            return  # its users take its fields, or the whole by `plain`
        if self._converts(expr):
            return
        if isinstance(expr, Call) and isinstance(expr.op, Op) and isinstance(expr.op.operator, OperatorRecord):
            new = self._follow(expr, expr.op.operator)
            if new is not None:
                versions = self.converted if _rank(new) == _RANK else self.originals
                versions[expr] = new
                return
            product = (
                self._packed_conv2d(expr, expr.op.operator)
                or self._kernel_gradient(expr, expr.op.operator)
                or in_panels(expr, self.plain, self.preferences.dense_blocks, self.repeated)
                or in_order(expr, self.plain, self.preferences.dense_blocks)
            )
            if product is not None:
                self.originals[expr] = product
                return
        parts = [child if isinstance(child, Op) else self.plain(child) for child in children(expr)]
        self.originals[expr] = rebuild_typed(expr, parts)

    def _converts(self, expr: Expr) -> bool:
        """Whether an expression is only a value in the other layout, or a row as an image, or back: its versions are
        those of the value then. A row that is not in the preferred layout becomes an image as the program says."""
        data, preferred = self.source, self.preferences.conv2d_data
        match expr:
            case Call(args=(value,), attrs=LayoutTransformAttributes() as change) if preferred:
                if change == LayoutTransformAttributes(data, preferred):
                    self.originals[expr] = self.preferred(value)
                    return True
                if change == LayoutTransformAttributes(preferred, data):
                    self.converted[expr] = self.plain(value)
                    return True
                return False
            case Call(args=(value,)) if preferred and is_row_as_image(expr):
                self.converted[expr] = self.preferred(value)
                return self.is_preferred(value)
            case _:
                return False

    def _follow(self, expr: Call, record: OperatorRecord) -> Expr | None:
        """The call in the preferred layout, or None where it is to stay as it is."""
        if not self.preferences.conv2d_data:
            return None
        heavy = self._convolution(expr) if record in CONVOLUTIONS else None
        if heavy is not None or isinstance(expr.attrs, Conv2DAttributes):
            return heavy
        drops_axes = isinstance(record.layout, AxisAttribute) and record.layout.drops_axes
        if not isinstance(expr.checked_type, TensorType) or not (_rank(expr) in (_RANK, _ROW_RANK) or drops_axes):
            return None
        rule = record.layout
        match rule:
            case OwnLayout() | KernelResult():
                return None
            case Elementwise() | Broadcasting():
                return self._elementwise(expr, record)
            case LayoutAttribute(attribute=attribute, inputs=inputs):
                laid = [expr.args[position] for position in inputs]
                if not any(map(self.is_preferred, laid)) or getattr(expr.attrs, attribute) != self.source:
                    return None
                attrs = _changed(expr.attrs, **{attribute: self.preferences.conv2d_data})
                versions = (self.preferred if at in inputs else self.plain for at in range(len(expr.args)))
                return call(record, [made(each) for made, each in zip(versions, expr.args, strict=True)], attrs)
            case AxisAttribute():
                return self._axis(expr, record, rule)
            case PerAxisAttributes(attributes=names):
                if not self.is_preferred(expr.args[0]) or _rank(expr.args[0]) != _RANK:
                    return None
                values = {name: tuple(getattr(expr.attrs, name)[axis] for axis in self.order) for name in names}
                arguments = (self.preferred(expr.args[0]), *map(self.plain, expr.args[1:]))
                return call(record, arguments, _changed(expr.attrs, **values))

    def _convolution(self, expr: Call) -> Expr | None:
        """A convolution in the preferred layout; None for others, and for those that stay as they are."""
        if expr in self.in_place and not self.is_preferred(expr.args[0]):
            return None
        rows = self.source == "NCHW" and not self.kernel_layout
        match expr.attrs:
            case Conv2DAttributes(out_layout="") as attributes if attributes.data_layout == self.source:
                return self._conv2d(expr, attributes, self.plain(expr.args[1]))
            case Conv1DAttributes(data_layout="NCW", kernel_layout="OIW", out_layout="") as row if rows:
                return self._conv2d(expr, of_image(row), image_of(self.plain(expr.args[1])))
            case _:
                return None

    def _conv2d(self, expr: Call, attributes: Conv2DAttributes, weight: Expr) -> Expr | None:
        kernel = parse_layout(attributes.kernel_layout)
        changes = self.kernel_layout or set(attributes.kernel_layout) == set("OIHW")
        type_ = weight.checked_type
        if not changes or kernel.blocks or not isinstance(type_, TensorType):
            return None
        extents = kernel.extents(type_.shape)
        if not isinstance(extents["O"], int):
            return None
        ordered = TensorType(tuple(extents[letter] for letter in "OIHW"), type_.dtype)
        kernel_layout = self.kernel_layout or layout_of_kernel(
            attributes, ordered, isinstance(weight, Constant), self._blocks(expr)
        )
        if not self.kernel_layout and attributes.groups > 1 and kernel_layout in (OF_FEW_CHANNELS, OPEN):
            return None  # channels of a group fill no vectors: these lie along space
        return self._packed(self.preferred(expr.args[0]), weight, attributes, kernel_layout)

    def _packed(self, data: Expr, weight: Expr, attributes: Conv2DAttributes, kernel_layout: str) -> Expr:
        """The convolution of data that are in the preferred layout, with its kernel in this one."""
        kernel, type_ = parse_layout(attributes.kernel_layout), weight.checked_type
        assert isinstance(type_, TensorType)
        product = as_product(data, weight, attributes) if self._may_be_products else None
        if product is not None:
            return product
        extents = kernel.extents(type_.shape)
        taps = tuple(extent for extent in (extents["H"], extents["W"]) if isinstance(extent, int))
        attrs = _changed(
            attributes,
            data_layout=self.preferences.conv2d_data,
            kernel_layout=kernel_layout,
            channels=extents["O"],
            kernel_size=attributes.kernel_size or taps,
        )
        return call(CONV2D, (data, kernel_in_layout(weight, kernel.text, kernel_layout)), attrs)

    def _kernel_gradient(self, expr: Call, record: OperatorRecord) -> Expr | None:
        """The gradient of a convolution by its kernel, from data in the preferred layout, with output channels
        innermost."""
        attributes, preferred = expr.attrs, self.preferences.conv2d_data
        if not isinstance(attributes, Conv2DBackwardWeightAttributes) or attributes.data_layout != self.source:
            return None
        is_depthwise = isinstance(expr.checked_type, TensorType) and expr.checked_type.shape[1] == 1
        layout = "HWOI" if is_depthwise and attributes.groups > 1 else OPEN
        if not preferred or attributes.kernel_layout != "OIHW" or (attributes.groups > 1 and not is_depthwise):
            return None
        gradient, data = map(self.preferred, expr.args)
        product = kernel_gradient_as_product(gradient, data, attributes) if self._may_be_products else None
        if product is not None:
            return product
        changed = _changed(attributes, data_layout=preferred, kernel_layout=layout)
        found = call(record, (gradient, data), changed)
        return kernel_from_open(found) if layout == OPEN else in_layout(found, layout, "OIHW")

    def _blocks(self, convolution: Call) -> tuple[int, ...]:
        """How many channels lie together."""
        width = chosen_convolution(convolution, self.preferences, self.records).width
        return (width,) if width else ()

    def _elementwise(self, expr: Call, record: OperatorRecord) -> Expr | None:
        rank = _rank(expr)
        if not any(self.is_preferred(argument) and _rank(argument) == rank for argument in expr.args):
            return None
        arguments: list[Expr] = []
        for argument in expr.args:
            type_ = argument.checked_type
            if not isinstance(type_, TensorType):
                return None
            arguments.append(self.preferred(argument) if _rank(argument) == rank else self._aligned(argument, rank))
        return call(record, arguments, expr.attrs)

    def _aligned(self, argument: Expr, rank: int | None) -> Expr:
        """An input, of a smaller rank, of a broadcasting operator, its axes in the preferred order."""
        plain = self.plain(argument)
        type_ = argument.checked_type
        if not isinstance(type_, TensorType) or not type_.shape or rank is None:
            return plain
        full = (1,) * (rank - len(type_.shape)) + type_.shape
        image = full if rank == _RANK else image_shape(full)
        return transpose(reshape(plain, image), self.order)

    def _axis(self, expr: Call, record: OperatorRecord, rule: AxisAttribute) -> Expr | None:
        data = expr.args[0]
        if not self.is_preferred(data):
            return None
        parts = data.fields if isinstance(data, Tuple) else (data,)
        ranks = {_rank(part) for part in parts}
        axes = getattr(expr.attrs, rule.attribute)
        if ranks not in ({_RANK}, {_ROW_RANK}) or axes is None:
            return None
        named = (axes,) if isinstance(axes, int) else axes
        meant: dict[str, object] = {}
        if getattr(expr.attrs, "exclude", False):
            rank = _RANK if ranks == {_RANK} else _ROW_RANK
            left_out = {axis % rank for axis in named}
            named = axes = tuple(axis for axis in range(rank) if axis not in left_out)
            meant["exclude"] = False
        many = [axis % _RANK if ranks == {_RANK} else image_axis(axis) for axis in named]
        drops = rule.drops_axes and not getattr(expr.attrs, "keepdims", False)
        if drops and ranks == {_ROW_RANK}:
            many.append(ROWS)
        renamed = tuple(self.order.index(axis) for axis in many)
        rest = [axis for axis in self.order if axis not in many]
        if drops and rest != sorted(rest):
            return None
        attrs = _changed(expr.attrs, **{rule.attribute: renamed[0] if isinstance(axes, int) else renamed}, **meant)
        source: Any = tuple(self.preferred(part) for part in parts) if isinstance(data, Tuple) else self.preferred(data)
        if isinstance(source, tuple):
            source = with_known_type(Tuple(source, span=data.span))
        others = enumerate(expr.args[1:], 1)
        moved = (self.preferred(each) if position in rule.inputs else self.plain(each) for position, each in others)
        return call(record, (source, *moved), attrs)

    def _packed_conv2d(self, expr: Call, record: OperatorRecord) -> Expr | None:
        """A convolution whose data have the preferred layout already, with its kernel as schedules read it."""
        attributes = expr.attrs
        if self.kernel_layout or not self.preferences.conv2d_data or not isinstance(attributes, Conv2DAttributes):
            return None
        _, weight = expr.args
        type_, kernel = weight.checked_type, parse_layout(attributes.kernel_layout)
        is_plain = record.name == "nn.conv2d" and attributes.data_layout == self.preferences.conv2d_data
        if not is_plain or kernel.blocks or not isinstance(type_, TensorType):
            return None
        extents = kernel.extents(type_.shape)
        ordered = TensorType(tuple(extents[letter] for letter in "OIHW"), type_.dtype)
        layout = layout_of_kernel(attributes, ordered, isinstance(weight, Constant), self._blocks(expr))
        if layout in (attributes.kernel_layout, OF_FEW_CHANNELS):
            return None
        return self._packed(self.plain(expr.args[0]), self.plain(weight), attributes, layout)


def _rank(expr: Expr) -> int | None:
    type_ = expr.checked_type
    return len(type_.shape) if isinstance(type_, TensorType) else None


def _changed(attributes: Any, **values: Any) -> Any:
    return replace(attributes, **values)
