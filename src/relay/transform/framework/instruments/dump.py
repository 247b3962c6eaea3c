"""The module after each pass that changed it, as files."""

from __future__ import annotations

from pathlib import Path

from relay.ir.module import IRModule
from relay.text.printer import astext
from relay.transform.framework.instruments.instrument import Instrument
from relay.transform.framework.instruments.node_counts import count_nodes
from relay.transform.framework.pass_info import PassInfo


class DumpChanges(Instrument):
    """Writes `folder/007_FuseOps.relay` when the seventh pass, FuseOps, changed the module, and `000_before.relay` at
    the start. With `show_meta_data` the constants are in the files, which then parse back."""

    def __init__(self, folder: str | Path, show_meta_data: bool = False) -> None:
        self.folder = Path(folder)
        self.show_meta_data = show_meta_data
        self._finished = 0
        self._open: list[IRModule] = []

    def exit_pass_ctx(self) -> None:
        self._open.clear()

    def run_before_pass(self, module: IRModule, info: PassInfo) -> None:
        if not self._finished and not self._open:
            self._write("000_before.relay", f"before {info.name}", module)
        self._open.append(module)

    def run_after_pass(self, module: IRModule, info: PassInfo) -> None:
        before = self._open.pop()
        self._finished += 1
        if module is not before:
            text = f"after {info.name}: {count_nodes(before)} to {count_nodes(module)} nodes"
            self._write(f"{self._finished:03}_{info.name}.relay", text, module)

    def _write(self, name: str, remark: str, module: IRModule) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        text = f"// {remark}\n{astext(module, self.show_meta_data)}\n"
        (self.folder / name).write_text(text, encoding="utf-8")
