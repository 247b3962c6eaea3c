"""Passes of one's own, selection by context, instruments, and what is left behind when a pass fails."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

import relay
from relay.base.diagnostics import CompilerBug, RelayError
from relay.ir.expr import Call, Function, Op, TupleGetItem, Var, record_type
from relay.ir.module import IRModule
from relay.ir.rewriting import with_body
from relay.ops.table import OPERATORS
from relay.targets.cpu.kernel_target import CpuKernelTarget
from relay.targets.cpu.target import CpuTarget
from relay.testing import mlp, resnet
from relay.transform import (
    A_NORMAL_FORM,
    FUSED,
    DumpChanges,
    FoldConstant,
    FuseOps,
    Instrument,
    LayoutPreferences,
    NodeCounts,
    Pass,
    PassContext,
    PassInfo,
    PrintChanges,
    Sequential,
    SimplifyInference,
    Timing,
    ToANormalForm,
    Validation,
    function_pass,
    level,
    module_pass,
    optimization_pipeline,
)
from tests.driver.processes import environment
from tests.messages import check_message

SOURCE = '#[version = "0.0.5"]\ndef @main(%x: Tensor[(2, 3), float32]) { add(%x, multiply(2f, 3f)) }'


def program() -> IRModule:
    return relay.transform.infer_type(relay.parse(SOURCE))


@function_pass(name="Mine", level=1)
def mine(function: Function, module: IRModule, context: PassContext) -> Function:
    """Put a relu around the result."""
    body = relay.nn.relu(function.body)
    return with_body(function, body)


@function_pass(opt_level=1)
def breaks(function: Function, module: IRModule, context: PassContext) -> Function:
    raise KeyError("no such thing")


@module_pass()
def finds_a_bug(module: IRModule, context: PassContext) -> IRModule:
    raise CompilerBug("rebuild", "a Call has 2 children, 3 given")


@module_pass()
def makes_nonsense(module: IRModule, context: PassContext) -> IRModule:
    x = Var("x", relay.TensorType((2, 3), "float32"))
    y = Var("y", relay.TensorType((2, 4), "float32"))
    return module.with_function("main", Function((x, y), Call(Op(OPERATORS["add"]), (x, y))))


@module_pass(keeps={A_NORMAL_FORM})
def unnames(module: IRModule, context: PassContext) -> IRModule:
    x = Var("x", relay.TensorType((2, 3), "float32"))
    return module.with_function("main", Function((x,), relay.nn.relu(relay.nn.relu(x))))


@module_pass()
def unbinds(module: IRModule, context: PassContext) -> IRModule:
    body = relay.nn.relu(Var("y", relay.TensorType((2, 3), "float32")))
    return module.with_function("main", Function(module["main"].params, body))


@module_pass()
def lies_about_types(module: IRModule, context: PassContext) -> IRModule:
    function = module["main"]
    body = relay.nn.relu(relay.cast(function.params[0], "int32"))
    changed = Function(function.params, body)
    assert function.checked_type is not None
    return module.with_function("main", record_type(changed, function.checked_type))


@module_pass()
def forgets_types(module: IRModule, context: PassContext) -> IRModule:
    function = module["main"]
    untyped = TupleGetItem(relay.Tuple((function.params[0],)), 0)
    return module.with_function("main", with_body(function, record_type(untyped, function.body.checked_type)))


def names_run(context: PassContext, passes: Sequential) -> list[str]:
    counts = NodeCounts()
    with PassContext(context.opt_level, context.required_pass, context.disabled_pass, (counts,)):
        passes(program())
    return [row.name for row in counts.rows[:-1]]  # the last is the sequence itself


def test_a_pass_of_ones_own_is_a_decorated_function():
    module = mine(program())
    assert "nn.relu" in module.astext()
    assert str(mine) == "Mine (from -O1)  Put a relu around the result."
    assert (breaks.name, breaks.level) == ("breaks", 1)
    assert module["main"].body.checked_type is not None


def test_published_passes_are_called_as_elsewhere():
    module = program()
    assert relay.structural_equal(FoldConstant()(module), FoldConstant(module))


def test_the_context_selects_passes_in_their_order():
    passes = Sequential([mine, FoldConstant, SimplifyInference])
    assert names_run(PassContext(0), passes) == ["SimplifyInference"]
    assert names_run(PassContext(1), passes) == ["Mine", "SimplifyInference"]
    assert names_run(PassContext(0, required_pass=["FoldConstant"]), passes) == ["FoldConstant", "SimplifyInference"]
    assert names_run(PassContext(2, disabled_pass=[mine, "SimplifyInference"]), passes) == ["FoldConstant"]


def test_an_instrument_may_leave_a_pass_out():
    class NoFolding(Instrument):
        def should_run(self, module: IRModule, info: PassInfo) -> bool:
            return info.name != "FoldConstant"

    with PassContext(instruments=[NoFolding()]):
        assert "multiply" in Sequential([FoldConstant])(program()).astext()


@pytest.mark.parametrize(("name", "action"), [
    ("required-pass", lambda: PassContext(required_pass=["FuseOp"])),
    ("disabled-pass", lambda: PassContext(disabled_pass=["Mine"])),
    ("config-key", lambda: PassContext(config={"relay.FuseOps.max_dept": 3})),
    ("config-value", lambda: PassContext(config={"relay.FuseOps.max_depth": "3"})),
    ("opt-level", lambda: PassContext(opt_level=5)),
    ("no-options", lambda: FoldConstant(largest=3)),
])  # fmt: skip
def test_what_a_context_or_a_pass_refuses(name, action):
    with pytest.raises(RelayError) as caught:
        action()
    check_message("transform", name, caught.value)


def test_config_reaches_the_passes():
    assert PassContext(config={"relay.FuseOps.max_depth": 3}).fusion.max_operators == 3


def test_every_pass_that_comes_along_has_one_name():
    assert relay.transform.PASSES["FoldConstant"] is FoldConstant
    assert all(each.name == name for name, each in relay.transform.PASSES.items())
    assert {each.name for each in level(4).passes} <= set(relay.transform.PASSES)
    assert PassContext(disabled_pass=list(relay.transform.PASSES))


def test_a_factory_is_the_function_that_it_was_made_of():
    factory = relay.transform.CombineParallelDense
    assert list(inspect.signature(factory).parameters) == ["min_num_branches", "to_batch"]
    assert "branch-count" in factory.__doc__
    assert str(factory(to_batch=False)).startswith("CombineParallelDense (from -O4)")


def test_levels_print_and_run():
    assert str(level(2)).splitlines()[0] == "-O2"
    assert len(str(level(2)).splitlines()) == 1 + len(level(2).passes)
    assert len(level(0).passes) < len(level(2).passes) <= len(level(4).passes)
    module, _ = mlp.get_workload()
    with PassContext(opt_level=3):
        assert relay.structural_equal(level(3)(module), optimization_pipeline(module))
    assert relay.structural_equal(level(3)(module), level(3)(module))  # its level, not that of the context


# ---------------------------------------------------------------------------------------------------- instruments


def test_timing_is_a_tree():
    ticks = iter(range(100))
    timing = Timing(lambda: next(ticks) / 1000)
    with PassContext(instruments=[timing]):
        Sequential([FoldConstant, Sequential([mine], name="inner")], name="outer")(program())
    assert str(timing).splitlines() == [
        "outer              7.0 ms",
        "  FoldConstant     1.0 ms",
        "  inner            3.0 ms",
        "    Mine           1.0 ms",
    ]
    console = Console(record=True, width=60, file=StringIO())
    console.print(timing)
    assert "└── inner  3.0 ms" in console.export_text()


def test_node_counts():
    counts = NodeCounts()
    with PassContext(instruments=[counts]):
        Sequential([SimplifyInference, FoldConstant])(program())
    assert str(counts).splitlines() == [
        "SimplifyInference: 8 to 8 nodes",
        "FoldConstant: 8 to 5 nodes",
        "Sequential: 8 to 5 nodes",
    ]


def test_changes_are_dumped_and_parse_back(tmp_path):
    with PassContext(instruments=[DumpChanges(tmp_path)]):
        module = Sequential([SimplifyInference, FoldConstant, mine])(program())
    assert [path.name for path in sorted(tmp_path.iterdir())] == [
        "000_before.relay", "002_FoldConstant.relay", "003_Mine.relay", "004_Sequential.relay",
    ]  # fmt: skip
    text = (tmp_path / "003_Mine.relay").read_text()
    assert text.startswith("// after Mine: 5 to 7 nodes\n")
    assert relay.structural_equal(relay.parse(text), module)


def test_changes_are_printed():
    written: list[str] = []
    with PassContext(instruments=[PrintChanges(written.append)]):
        FoldConstant(program())
    (text,) = written
    assert text.startswith("--- before FoldConstant\n+++ after FoldConstant\n")
    assert re.search(r"^-.*multiply\(2f, 3f\)", text, re.MULTILINE)
    assert re.search(r"^\+.*add\(%x, 6f\)", text, re.MULTILINE)


def test_instruments_enter_and_leave_once():
    events: list[str] = []

    class Watching(Instrument):
        def enter_pass_ctx(self) -> None:
            events.append("enter")

        def exit_pass_ctx(self) -> None:
            events.append("exit")

    watching = Watching()
    with PassContext(instruments=[watching]), PassContext(opt_level=3, instruments=[watching]):
        events.append("inside")
    assert events == ["enter", "inside", "exit"]


@pytest.mark.parametrize("opt_level", range(5))
def test_the_pipeline_is_valid_after_each_pass(opt_level):
    module, _ = resnet.get_workload(num_layers=18)
    layouts = relay.transform.LayoutPreferences("NHWC", (16,), (16,))
    with PassContext(opt_level, instruments=[Validation()], layouts=layouts):
        module = optimization_pipeline(module)
    assert FUSED.violation(module) == A_NORMAL_FORM.violation(module) == ""


@pytest.mark.parametrize(("bad", "says"), [
    (unnames, "it does not keep what it says, A-normal form: @main has a Call inside a Call"),
    (unbinds, "it made a program that is not well-formed: %y is not bound"),
    (lies_about_types, "it left @main the type fn (Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32], but it is of"),
    (forgets_types, "it left a Tuple of @main without a type"),
])  # fmt: skip
def test_validation_names_the_culprit(tmp_path, bad, says):
    module = ToANormalForm(program())
    with PassContext(instruments=[Validation()], config={"relay.repro_folder": str(tmp_path)}):
        with pytest.raises(CompilerBug) as caught:
            bad(module)
        assert says in str(caught.value)
        assert caught.value.stage == bad.name
    bad(module)  # nobody looks


def test_what_a_pass_needs():
    @module_pass(needs={FUSED})
    def kernels_only(module: IRModule, context: PassContext) -> IRModule:
        return module

    with PassContext(instruments=[Validation()]):
        kernels_only(FuseOps(program()))
        with pytest.raises(CompilerBug, match="it needs a module in fused, but @main calls "):
            kernels_only(program())


# -------------------------------------------------------------------------------------------------------- failure


def failure(
    tmp_path: Path, bad: Pass, *instruments: Instrument, layouts: LayoutPreferences | None = None
) -> CompilerBug:
    config = {"relay.repro_folder": str(tmp_path)}
    context = PassContext(instruments=instruments, config=config, layouts=layouts or LayoutPreferences())
    with context, pytest.raises(CompilerBug) as caught:
        Sequential([SimplifyInference, Sequential([bad])])(program())
    return caught.value


def test_a_failing_pass_names_itself_its_function_and_a_folder(tmp_path):
    bug = failure(tmp_path, breaks)
    assert bug.stage == "breaks on @main"
    assert str(bug).startswith("compiler bug in breaks on @main: KeyError: 'no such thing'\n  repro: ")
    folder = Path(bug.repro)
    assert folder.parent == tmp_path
    assert sorted(path.name for path in folder.iterdir()) == ["before.relay", "failure.txt", "reproduce.py"]
    assert relay.structural_equal(relay.parse((folder / "before.relay").read_text()), program())
    assert 'raise KeyError("no such thing")' in (folder / "failure.txt").read_text()


def test_a_bug_that_a_pass_finds_has_a_folder_too(tmp_path):
    bug = failure(tmp_path, finds_a_bug)
    assert "finds_a_bug" in bug.stage
    assert "2 children, 3 given" in str(bug)
    assert Path(bug.repro, "reproduce.py").exists()


def test_a_program_that_does_not_type_is_the_fault_of_the_pass(tmp_path):
    bug = failure(tmp_path, makes_nonsense)
    assert "it made a program that does not type: error[extents-differ]" in str(bug)


def test_the_users_own_error_stays_one():
    x, y = (Var(name, relay.TensorType((extent,), "float32")) for name, extent in (("x", 2), ("y", 3)))
    module = IRModule.from_expr(Function((x, y), Call(Op(OPERATORS["add"]), (x, y))))
    with pytest.raises(RelayError, match="do not broadcast"):
        FoldConstant(module)


@pytest.mark.parametrize("bad", [breaks, unbinds])
def test_the_script_shows_the_failure_again(tmp_path, bad):
    layouts = CpuKernelTarget(CpuTarget(vector_bits=256)).layouts
    bug = failure(tmp_path, bad, Validation(), layouts=layouts)
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, Path(bug.repro) / "reproduce.py"], capture_output=True, text=True,
        env=environment({"PYTHONPATH": f"{root / 'src'}:{root}"}), check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert str(bug).splitlines()[0] in done.stderr


def test_a_preference_that_nobody_can_import_is_said_to_be_one(tmp_path):
    layouts = LayoutPreferences(conv2d_data="NHWC", keeps_channels_first=lambda weights: weights.groups > 1)
    script = Path(failure(tmp_path, breaks, layouts=layouts).repro, "reproduce.py").read_text()
    assert "raise SystemExit('write what makes <function test_a_preference" in script
    compile(script, "reproduce.py", "exec")


def test_a_pass_that_nobody_can_import_is_said_to_be_one(tmp_path):
    @module_pass(name="Local")
    def local(module: IRModule, context: PassContext) -> IRModule:
        raise ValueError

    script = Path(failure(tmp_path, local).repro, "reproduce.py").read_text()
    assert 'raise SystemExit("the pass Local was made in ' in script
    compile(script, "reproduce.py", "exec")
