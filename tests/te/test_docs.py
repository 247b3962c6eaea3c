"""`docs/schedules.md` is made from the steps' own documentation and the golden schedules, and is up to date."""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING, fields
from pathlib import Path

from relay import te

ROOT = Path(__file__).parent.parent.parent
SCHEDULES = ROOT / "tests" / "golden" / "schedule"

HEAD = """# Schedules

A tensor expression says what to compute, and a schedule says how. A schedule is a tuple of steps. relay checks each
step when it is applied, and refuses a step that would change the result, with the reason. This page is the reference of
all steps: for each, its parameters, and the loops before and after it. [Schedules by hand](schedules_by_hand.md) is the
tutorial.

```python
from relay import te
from relay.tir.text.printer import print_primfunc

x = te.placeholder((8, 64), "float32", "x")
y = te.compute((8, 64), lambda i, j: te.maximum(x[i, j], 0.0), name="relu")

s = te.ScheduleBuilder((y,))  # records steps, and checks each at its line
outer, inner = s.split("relu", "j", factor=16)
s.vectorize("relu", inner)
print(te.print_loops(s.state))  # what has been done so far
func = te.lower((y,), (x,), s.steps)  # loops, as a tir.PrimFunc
print(print_primfunc(func))  # the loops, as below and as `relay show --stage tir` prints them
text = te.print_steps(s.steps)  # one step a line; te.parse_steps reads it back
```

A stage has the name of its `te.compute`, and its loops have the names of the parameters of the compute's function.
`split` replaces `i` by `i.outer` and `i.inner`, and `fuse` makes `i.j.fused`. `cache_write` and `cache_read` add stages
such as `c.register` and `a.local`, and `rfactor` adds `c.rf`. *Class* is the floating-point class of a step: `EXACT`
steps do not change a bit of the result, `ROUNDING` steps may change how it is rounded.

A result may be stored inside a larger buffer, with a gap behind one axis (`Tensor.gap`). The steps do not depend on
this. But do not fuse the loop over the axis with the gap with loops outside of it.

`tests/te/test_docs.py` generates this page (with UPDATE_GOLDEN=1).

# Steps
"""

WHOLE = {
    "micro_kernel": "A matrix product in register tiles, with its epilogue",
    "convolution": "A convolution with padding, bias, residual and relu",
    "softmax": "Softmax, row by row",
    "attention": "Attention, block by block of keys",
    "staged_matmul": "A matrix product on a GPU, staged in the memory of a block",
    "tree": "A sum over the threads of a block",
}


def section(kind: type) -> str:
    name = te.step_name(kind)
    parts = [x.name if x.default is MISSING else f"{x.name}={x.default!r}" for x in fields(kind)]
    prose = (inspect.getdoc(kind) or "").split(">>>")[0].strip()
    return f"## {name}\n\n`{name}({', '.join(parts)})`\n\n{prose}\n\n{example(name)}"


def example(name: str) -> str:
    text = (SCHEDULES / f"{name}.txt").read_text()
    steps, before, after = re.fullmatch(
        r"# program: [^\n]+\n(.*?)\n----- before\n(.*?)=====>\n(.*)", text, re.DOTALL
    ).groups()
    blocks = [("The schedule", steps + "\n"), ("before", before), ("after", after)]
    return "\n".join(f"{title}:\n\n```\n{block}```\n" for title, block in blocks)


def test_page_is_up_to_date(golden):
    whole = [f"## {title}\n\n{example(name)}" for name, title in WHOLE.items()]
    page = "\n".join([HEAD, *map(section, te.STEP_TYPES), "# Whole schedules\n", *whole])
    golden(ROOT / "docs" / "schedules.md", page)
