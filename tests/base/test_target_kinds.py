"""Kinds of targets: found by name, registered, and told what is wrong with them when they are named."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.metadata import Distribution
from pathlib import Path
from typing import ClassVar

import pytest
from tests.messages import check_message

import relay
from relay.base.frozen import frozen
from relay.base.target import PROTOCOL_VERSION, Target, target_kind


@frozen
class Abacus(Target):
    kind: ClassVar[str] = "abacus"
    rods: int = 10

    def __str__(self) -> str:
        return f"abacus -rods={self.rods}"


@dataclass
class AbacusKind:
    name: str = "abacus"
    protocol_version: int = PROTOCOL_VERSION

    def parse(self, flags):
        return Abacus(*(int(flag.removeprefix("-rods=")) for flag in flags))

    def resolve(self, target):
        return target

    def kernel_target(self, target): ...

    def host_target(self, target): ...


@pytest.fixture
def abacus():
    kind = relay.register_target(AbacusKind())
    yield kind
    relay.unregister_target("abacus")


def test_a_registered_kind_reads_its_targets(abacus):
    target = relay.Target.parse("abacus -rods=7")
    assert (target.rods, str(target), target_kind("abacus").resolve(target)) == (7, "abacus -rods=7", target)
    assert relay.Target.parse(str(target)) == relay.Target.parse(target) == target


def test_a_name_is_taken_once(abacus):
    with pytest.raises(relay.RelayError) as caught:
        relay.register_target(AbacusKind())
    check_message("driver", "target-kind-exists", caught.value)
    other = AbacusKind()
    other.resolve = lambda target: Abacus(1)
    assert relay.register_target(other, replace=True) is other
    assert target_kind("abacus").resolve(Abacus(7)) == Abacus(1)
    with pytest.raises(relay.RelayError, match="target-kind-exists"):
        relay.register_target(AbacusKind("llvm"), replace=True)


def test_what_is_forgotten_is_unknown():
    for name in ("abacus", "llvm"):
        with pytest.raises(relay.RelayError, match="unknown-target-kind"):
            relay.unregister_target(name)


@pytest.mark.parametrize(("name", "target"), [("misspelt-target", "llmv -mcpu=native"), ("empty-target", "")])
def test_unknown_kinds(name, target):
    with pytest.raises(relay.RelayError) as caught:
        relay.Target.parse(target)
    check_message("driver", name, caught.value)


@pytest.mark.parametrize(
    "kind", [AbacusKind(protocol_version=9), object(), type("Part", (), {"name": "part", "protocol_version": 1})()]
)
def test_what_is_no_kind_is_not_registered(kind):
    with pytest.raises(relay.RelayError, match=r"broken-target-kind.*which this program brings"):
        relay.register_target(kind)


class Installed(Distribution):
    """A package of one module, `module`, that brings kinds of targets."""

    def __init__(self, package: str, **kinds: str) -> None:
        self.package, self.kinds = package, kinds

    def read_text(self, filename):
        if filename == "METADATA":
            return f"Metadata-Version: 2.1\nName: {self.package}\nVersion: 2.5\n"
        if filename == "entry_points.txt":
            return "\n".join(["[relay.targets]", *(f"{name} = {value}" for name, value in self.kinds.items())])
        return None

    def locate_file(self, path):
        return Path(path)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Kinds that a package brings, as `name="attribute of its module"`."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "strange_targets.py").write_text(
        "from tests.base.test_target_kinds import AbacusKind\n"
        "whole, other_name, newer = AbacusKind('whole'), AbacusKind('x'), AbacusKind('newer', 2)\n"
        "part = type('Part', (), {'name': 'part', 'protocol_version': 1, 'parse': lambda flags: None})\n"
    )
    (tmp_path / "strange_broken.py").write_text("import no_such_module\n")
    packages: list[Installed] = []
    monkeypatch.setattr(Distribution, "discover", classmethod(lambda cls, **_: iter(packages)))

    def install(package: str = "strange-targets", **kinds: str) -> None:
        packages.append(Installed(package, **kinds))

    yield install
    sys.modules.pop("strange_targets", None)


def test_a_package_brings_a_kind_that_is_imported_when_it_is_named(installed):
    installed(whole="strange_targets:whole", broken="strange_broken:KIND")
    assert relay.Target.parse("llvm").kind == "llvm"
    assert "strange_targets" not in sys.modules
    assert relay.Target.parse("whole -rods=3").rods == 3
    with pytest.raises(relay.RelayError, match="one of llvm, broken, whole"):
        relay.Target.parse("none")


BROKEN = {
    "broken": "strange_broken:KIND",
    "gone": "strange_targets:nothing",
    "newer": "strange_targets:newer",
    "part": "strange_targets:part",
    "misnamed": "strange_targets:other_name",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_package_is_named_when_its_kind_is(name, installed):
    installed(**BROKEN)
    with pytest.raises(relay.RelayError) as caught:
        relay.build(relay.const(1.0), target=name)
    check_message("driver", f"target-kind-{name}", caught.value)


def test_two_packages_of_one_name(installed):
    installed(whole="strange_targets:whole")
    installed("other-targets", whole="strange_targets:whole")
    with pytest.raises(relay.RelayError, match=r"broken-target-kind.*several packages"):
        relay.Target.parse("whole")
