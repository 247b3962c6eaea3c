"""What fails in a target that others bring is told as its failure, whichever method of its protocols it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import relay
from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.base.target import PROCESS, PROTOCOL_VERSION, Target, TargetKind, target_kind
from relay.driver.build import compile_stages
from relay.driver.compilation import Compilation
from relay.driver.targets import targets_for
from relay.ir.expr import Call, Op
from relay.lower.program.launch import KernelModule
from relay.lower.targets import HostTarget, KernelTarget
from relay.ops.table import OPERATORS
from relay.runtime.devices.registry import open_device
from relay.targets.cpu.host_target import CpuHostTarget
from relay.targets.cpu.kernel_target import CpuKernelTarget
from relay.transform import AlterOpLayout, Pass, function_pass, module_pass
from relay.transform.framework.passes import brought
from tests.messages import check_message

X = relay.var("x", shape=(2, 3))
PROGRAM = relay.Function([X], relay.nn.relu(X))


class Failing:
    """Does as another does, but for one member, which raises."""

    def __init__(self, works: Any, member: str) -> None:
        self.works, self.member = works, member

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.works, name)
        if name != self.member:
            return value
        if not callable(value):
            raise KeyError("no such thing")

        def fail(*arguments: object) -> None:
            raise KeyError("no such thing")

        return fail


@frozen
class Brittle(Target):
    kind: ClassVar[str] = "brittle"

    def __str__(self) -> str:
        return "brittle"


class Kind:
    """Makes code as a processor does, and launches it itself."""

    name = "brittle"
    protocol_version = PROTOCOL_VERSION

    def __init__(self, of_kernels: str = "", of_host: str = "") -> None:
        self.of_kernels, self.of_host = of_kernels, of_host

    def parse(self, flags: list[str]) -> Target:
        return Brittle()

    def resolve(self, target: Target) -> Target:
        return target

    def kernel_target(self, target: Target) -> Any:
        return Failing(CpuKernelTarget.of(targets_for("llvm").kernels.target), self.of_kernels)

    def host_target(self, target: Target) -> Any:
        return Failing(CpuHostTarget.of(targets_for("llvm").host.target), self.of_host)


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No kernel is found in a cache, and no kind is left behind."""
    monkeypatch.setenv("RELAY_CACHE_DIR", str(tmp_path / "cache"))
    yield
    if "brittle" in PROCESS.names():
        relay.unregister_target("brittle")


def compiled(kind: Any) -> Compilation:
    relay.register_target(kind)
    return compile_stages(PROGRAM, "brittle")


Action = Callable[[Compilation, Path], object]


def _build(stages: Compilation, folder: Path) -> object:
    return stages.artefact


OF_KERNELS: dict[str, Action] = {
    "assembly": lambda stages, _: stages.called_kernels[0].assembly(),
    "choice": lambda stages, _: stages.called_kernels[0].choice(),
    "steps": lambda stages, _: stages.kernels[0].target.steps(stages.kernels[0].group(), stages.kernels[0].choice()),
    "text": lambda stages, _: stages.called_kernels[0].source(),
}
OF_HOSTS: dict[str, Action] = {
    "link": lambda stages, folder: stages.targets.host.link(stages.artefact, folder / "code.so", "code"),
    "object_format": lambda stages, _: stages.targets.host.object_format,
    "program_text": lambda stages, _: stages.targets.host.program_text(stages.program),
    "target": lambda stages, _: stages.targets.host.target,
}
"""What asks them; all others are asked by a build."""


def assert_told(member: str, error: RelayError) -> None:
    assert error.rule == "plugin-failed"
    assert error.message.startswith(f"the target `brittle` failed in `{member}`")
    assert error.found == "KeyError: 'no such thing'"


def members(protocol: type) -> list[str]:
    return [name for name in vars(protocol) if not name.startswith("_")]


@pytest.mark.parametrize("member", members(KernelTarget))
def test_kernel_targets(member: str, tmp_path: Path) -> None:
    with pytest.raises(RelayError) as caught:
        OF_KERNELS.get(member, _build)(compiled(Kind(of_kernels=member)), tmp_path)
    assert_told(member, caught.value)
    if member == "schedule":
        check_message("driver", "plugin-failed", caught.value)


@pytest.mark.parametrize("member", members(HostTarget))
def test_host_targets(member: str, tmp_path: Path) -> None:
    with pytest.raises(RelayError) as caught:
        OF_HOSTS.get(member, _build)(compiled(Kind(of_host=member)), tmp_path)
    assert_told(member, caught.value)


@pytest.mark.parametrize("member", [each for each in members(TargetKind) if callable(vars(TargetKind)[each])])
def test_kinds(member: str) -> None:
    kind = relay.register_target(Kind())
    setattr(kind, member, getattr(Failing(kind, member), member))

    def ask() -> None:
        target_kind("brittle").resolve(relay.Target.parse("brittle"))
        relay.build(PROGRAM, target="brittle")

    with pytest.raises(RelayError) as caught:
        ask()
    assert_told(member, caught.value)


@function_pass(name="Rewritten")
def breaks(function: relay.Function, module: relay.IRModule, context: relay.PassContext) -> relay.Function:
    raise KeyError("no such thing")


@module_pass(name="Rewritten")
def makes_nonsense(module: relay.IRModule, context: relay.PassContext) -> relay.IRModule:
    three, two = (relay.const(np.zeros(extent, "float32")) for extent in (3, 2))
    return relay.IRModule.from_expr(relay.Function([], Call(Op(OPERATORS["add"]), (three, two))))


@pytest.mark.parametrize(("rule", "found"), [
    (breaks, "KeyError: 'no such thing'"),
    (makes_nonsense, "TypeError: it made a program that does not type"),
])  # fmt: skip
def test_passes_that_a_target_hands_in(rule: Pass, found: str) -> None:
    class Rewriting(Kind):
        def kernel_target(self, target: Target) -> Any:
            made = super().kernel_target(target)
            made.rules = (rule,)
            return made

    with pytest.raises(RelayError) as caught:
        _ = compiled(Rewriting()).optimized
    assert caught.value.rule == "plugin-failed"
    assert str(caught.value.found).startswith(found)
    if rule is breaks:
        check_message("driver", "plugin-pass-failed", caught.value)


def test_passes_of_relay_that_a_target_hands_in_stay_relay_s() -> None:
    mine, own = brought((breaks, AlterOpLayout), "the target `brittle`")
    assert mine.info.brought_by == "the target `brittle`"
    assert own is AlterOpLayout


def test_a_device_that_cannot_be_opened() -> None:
    def fail(index: int) -> Any:
        raise KeyError("no such thing")

    relay.register_device("brittle", fail, replace=True)
    with pytest.raises(RelayError) as caught:
        open_device("brittle")
    check_message("driver", "broken-device", caught.value)


def test_what_works_is_not_in_the_way() -> None:
    relay.register_target(Kind())
    given = np.array([[-1, 0, 1], [2, -3, 4]], np.float32)
    np.testing.assert_array_equal(relay.build(PROGRAM, target="brittle")(given), np.maximum(given, 0))


def test_what_a_plug_in_refuses_after_all_is_its_word(tmp_path: Path) -> None:
    """It said that it takes the group: an error of its own then is no bug of the compiler."""

    class Fickle(Kind):
        def kernel_target(self, target: Target) -> Any:
            made = super().kernel_target(target)
            made.schedule = refuse
            return made

    def refuse(group: object) -> None:
        raise RelayError(rule="brittle", message="not today")

    relay.register_target(Fickle())
    with pytest.raises(RelayError, match="not today"):
        relay.build(PROGRAM, target="brittle")


class Writing(Failing):
    """Emits by a function of its own."""

    def __init__(self, works: Any, emit: Callable[[Any], Any]) -> None:
        super().__init__(works, "")
        self.write = emit

    def emit(self, kernels: Any, report: Any, watch: Any = None) -> list[Any]:
        return [each.emitted(self.write) for each in kernels]


def test_what_fails_while_it_writes_a_kernel_is_its_failure(tmp_path: Path) -> None:
    class Scribbling(Kind):
        def kernel_target(self, target: Target) -> Any:
            return Writing(super().kernel_target(target), lambda function: {}["no such thing"])

    with pytest.raises(RelayError) as caught:
        _build(compiled(Scribbling()), tmp_path)
    assert_told("emit", caught.value)


def test_kernels_of_devices_have_launches(tmp_path: Path) -> None:
    class Idle(Kind):
        def kernel_target(self, target: Target) -> Any:
            made = Writing(super().kernel_target(target), lambda function: KernelModule("idle", b""))
            made.device_kind = "idle"
            return made

    with pytest.raises(RelayError) as caught:
        _build(compiled(Idle()), tmp_path)
    check_message("driver", "target-modules", caught.value)


def test_an_answer_is_yes_or_a_reason(tmp_path: Path) -> None:
    class Nodding(Kind):
        def kernel_target(self, target: Target) -> Any:
            made = super().kernel_target(target)
            made.supports = lambda group: True
            return made

    with pytest.raises(RelayError) as caught:
        _build(compiled(Nodding()), tmp_path)
    assert (caught.value.rule, caught.value.found) == ("target-answer", "True")
