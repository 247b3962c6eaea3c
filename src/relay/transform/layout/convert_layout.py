"""Run the convolutions of a whole network in the layouts that the user names: ConvertLayout.

    before: nn.relu(nn.conv2d(%x, %w, data_layout="NHWC", kernel_layout="HWIO"))
    after:  %0 = layout_transform(%x, "NHWC", "NCHW")                       desired {"nn.conv2d": ("NCHW", "OIHW")}
            %1 = nn.relu(nn.conv2d(%0, layout_transform(%w, "HWIO", "OIHW")))
            layout_transform(%1, "NCHW", "NHWC")

Operators between convolutions follow by their layout rule, as in AlterOpLayout: a value is converted at most once, so
one transform stands at each border; in front of operators that enlarge, not behind them. Convolutions with an
`out_layout` of their own, or kernels in blocks, stay. The type of the function does not change. Floating point:
ROUNDING (sums may run in another order).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relay.base.diagnostics import RelayError
from relay.base.floating_point import FloatingPointClass
from relay.ir.expr import Call, Function
from relay.ir.module import IRModule
from relay.ir.traversal import body_nodes
from relay.ops.nn.conv import Conv2DAttributes
from relay.transform.framework.context import LayoutPreferences, PassContext
from relay.transform.framework.passes import Pass, function_pass, pass_factory
from relay.transform.layout.alter_op_layout import Layouts, relaid

_OPERATOR = "nn.conv2d"
_DEFAULT_KERNELS = {"NCHW": "OIHW", "NHWC": "HWIO"}


@pass_factory
def ConvertLayout(desired_layouts: Mapping[str, Sequence[str]]) -> Pass:
    """Run convolutions in the layouts that the user names.

    For `{"nn.conv2d": (data layout, kernel layout)}`; the kernel layout may be left out or "default".

    Raises `RelayError` (rule `desired-layouts`) for other operators, and for layouts that are no order of N, C, H, W
    and of O, I, H, W.
    """
    data, kernel = _checked(desired_layouts)

    @function_pass(level=3, floating_point=FloatingPointClass.ROUNDING)
    def run(function: Function, module: IRModule, context: PassContext) -> Function:  # noqa: ARG001
        for source in _sources(function, data):
            function = relaid(function, Layouts(LayoutPreferences(conv2d_data=data), source, kernel))
        return function

    return run


def _sources(function: Function, desired: str) -> tuple[str, ...]:
    """The layouts of convolutions that are not in the desired one, each once."""
    found = (
        expr.attrs.data_layout
        for expr in body_nodes(function)
        if isinstance(expr, Call) and isinstance(expr.attrs, Conv2DAttributes)
    )
    return tuple(dict.fromkeys(layout for layout in found if layout != desired))


def _checked(desired_layouts: Mapping[str, Sequence[str]]) -> tuple[str, str]:
    layouts = tuple(desired_layouts.get(_OPERATOR, ()))
    data = layouts[0] if layouts else ""
    kernel = layouts[1] if len(layouts) == 2 and layouts[1] != "default" else _DEFAULT_KERNELS.get(data, "OIHW")
    if set(desired_layouts) != {_OPERATOR} or sorted(data) != sorted("NCHW") or sorted(kernel) != sorted("OIHW"):
        raise RelayError(
            rule="desired-layouts", message="these layouts cannot be had",
            expected=f'{{"{_OPERATOR}": (an order of N, C, H, W; an order of O, I, H, W, or "default")}}',
            found=str(dict(desired_layouts)),
        )  # fmt: skip
    return data, kernel
