"""What a program is compiled for: what makes its kernels, and what makes the program that launches them."""

from __future__ import annotations

from typing import cast

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.base.target import Target, target_kind
from relay.lower.targets import HostTarget, KernelTarget

DEFAULT_HOST = "llvm"


@frozen
class Targets:
    """`kernels` is asked for each group of operators; what it refuses, the `host` runs itself."""

    kernels: KernelTarget
    host: HostTarget

    @property
    def has_device(self) -> bool:
        """Whether kernels run elsewhere than the program that launches them."""
        return self.kernels.device_kind != self.host.kernels.device_kind

    @property
    def in_order(self) -> tuple[KernelTarget, ...]:
        """Those that are asked for a group, one after another."""
        return (self.kernels,) if self.kernels == self.host.kernels else (self.kernels, self.host.kernels)

    @property
    def devices(self) -> dict[str, str]:
        """On what kind of device each runs, by the kind of target."""
        return {each.target.kind: each.device_kind for each in self.in_order}

    def __str__(self) -> str:
        return ", ".join(str(each.target) for each in self.in_order)


def targets_for(target: str | Target, host: str | Target | None = None) -> Targets:
    """Those that users name. `host` is for targets that launch no programs: `llvm` unless it is given.

    Raises `RelayError`: `unknown-target-kind` and what a kind has against a target; `no-host-target` for a host that
    launches no programs, and for one beside a target that is a host itself.
    """
    wanted = Target.parse(target)
    kind = target_kind(wanted.kind)
    own = kind.host_target(wanted)
    if own is not None and host is not None:
        raise RelayError(
            rule="no-host-target",
            message=f"the target `{wanted}` launches its programs itself",
            expected="no host beside it",
            found=str(host),
            remedy="give target= alone",
        )
    return Targets(kind.kernel_target(wanted), own or _host(Target.parse(DEFAULT_HOST if host is None else host)))


def _host(wanted: Target) -> HostTarget:
    found = target_kind(wanted.kind).host_target(wanted)
    if found is None:
        raise RelayError(
            rule="no-host-target",
            message=f"the target `{wanted}` launches no programs",
            expected="a host, such as llvm",
            found=str(wanted),
        )
    return cast("HostTarget", found)
