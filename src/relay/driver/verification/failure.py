"""What is left when something is not what it means: an error that names it, and a folder to see it again."""

from __future__ import annotations

from pathlib import Path

from relay.base.diagnostics import Origin, RelayError
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.driver.verification.distance import Distance
from relay.driver.verification.inputs import Draw
from relay.ir.module import IRModule
from relay.ir.structural import structural_hash
from relay.runtime.verification import Part
from relay.text.printer import astext
from relay.transform.by_name import PASSES
from relay.transform.framework.context import PassContext
from relay.transform.framework.failure import lines_that_register, repro_parent

_SCRIPT = '''\
"""{what}: this runs both again, on the same inputs."""

from importlib import import_module
from pathlib import Path

import relay
from relay.driver.verification.inputs import WIDE, Draw

{get_operators}here = Path(__file__).parent
draw = {draw!r}


def read(name):
    return relay.transform.InferType()(relay.parse((here / name).read_text(encoding="utf-8"), name))


meant = read("meant.relay")
print("meant:", relay.create_executor("interpreter", meant).evaluate()(*draw.arguments(meant)))
{run_found}
'''
_FOUND_BY_PASS = """\
found = read("found.relay")
print("found:", relay.create_executor("interpreter", found).evaluate()(*draw.arguments(found)))"""
_FOUND_NATIVELY = """\
print("found:", relay.build(meant, {target!r}, opt_level={opt_level})(*draw.arguments(meant)))"""


@frozen(eq=False)
class Wrong:
    """What was compared: the program that says what is meant, and that which a pass made of it; None where it was
    compiled, for a target at a level."""

    part: Part
    name: str
    meant: IRModule
    found: IRModule | None = None
    target: str = ""
    opt_level: int = 0
    origins: tuple[Origin, ...] = ()
    """What else is known of where it goes wrong."""

    def error(self, draw: Draw, inputs: str, may: FloatingPointClass, distance: Distance, allowed: float) -> RelayError:
        """The error that says so (rule `verification-failed`), after its folder is written."""
        folder = self._write(draw)
        exactly = may is FloatingPointClass.EXACT
        expected = "the same result, bit for bit" if exactly else f"off by {allowed:.3g} at most ({may.name})"
        off = f", off by {distance.absolute:.3g}" if 0 < distance.absolute < float("inf") else ""
        return RelayError(
            rule="verification-failed",
            message=self._message,
            origins=(Origin("inputs", inputs), Origin("where", distance.place or "the result"), *self.origins),
            expected=expected,
            found=f"{distance.what}{off}",
            remedy=f"{self._remedy}; {folder} has the programs, and reproduce.py, which runs them",
        )

    @property
    def _message(self) -> str:
        match self.part:
            case Part.PASS:
                return f"the pass {self.name} changes what the program computes"
            case Part.KERNEL:
                return f"the kernel {self.name} does not compute what its operators mean"
            case Part.PROGRAM:
                return f"{self.name} does not compute what the program means"

    @property
    def _remedy(self) -> str:
        if self.part is Part.PASS:
            return f"leave it out: PassContext(disabled_pass=[{repr(self.name) if self.name in PASSES else self.name}])"
        return "compile with another opt_level, or run it in the interpreter"

    def _write(self, draw: Draw) -> Path:
        folder = repro_parent(PassContext.current()) / f"verify_{self.name[:60]}_{structural_hash(self.meant):016x}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "meant.relay").write_text(astext(self.meant), encoding="utf-8")
        run_found = _FOUND_NATIVELY.format(target=self.target, opt_level=self.opt_level)
        if self.found is not None:
            (folder / "found.relay").write_text(astext(self.found), encoding="utf-8")
            run_found = _FOUND_BY_PASS
        script = _SCRIPT.format(
            what=self._message[0].upper() + self._message[1:], get_operators=lines_that_register(self.meant),
            draw=draw, run_found=run_found,
        )  # fmt: skip
        (folder / "reproduce.py").write_text(script, encoding="utf-8")
        return folder
