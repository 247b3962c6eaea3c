"""What a pass is, and how passes are strung together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, TypeAlias, TypeVar, Union, overload

from relay.base.arguments import Kind, expect, expect_each
from relay.base.diagnostics import RelayError
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.base.span import caller_span
from relay.infer.infer_type import infer_type
from relay.ir.expr import Function
from relay.ir.module import MODULE, IRModule
from relay.transform.framework.context import PassContext
from relay.transform.framework.failure import FailedFunction, failed_pass
from relay.transform.framework.pass_info import PassInfo
from relay.transform.framework.properties import Property

ModuleTransform: TypeAlias = Callable[[IRModule, PassContext], IRModule]
FunctionTransform: TypeAlias = Callable[[Function, IRModule, PassContext], Function]
Options = ParamSpec("Options")
Transform = TypeVar("Transform", ModuleTransform, FunctionTransform)


@frozen
class Pass:
    """A named function from module to module, and what is known of it.

    Calling it on a module runs it under the current `PassContext`, whatever its level. `FoldConstant()` is
    `FoldConstant`, so that `FoldConstant()(module)` is written as in other versions of Relay.
    """

    info: PassInfo
    transform: ModuleTransform
    home: str = ""
    """`module:name` of the function that it was made of."""

    @property
    def name(self) -> str:
        return self.info.name

    @property
    def level(self) -> int:
        """The optimization level from which it runs by itself."""
        return self.info.opt_level

    @overload
    def __call__(self) -> Pass: ...
    @overload
    def __call__(self, module: IRModule) -> IRModule: ...
    def __call__(self, module: IRModule | None = None, **options: object) -> IRModule | Pass:
        if options:
            raise RelayError(
                rule="no-options",
                message=f"the pass {self.name} has no options",
                found=", ".join(options),
                remedy="`with PassContext(opt_level=…, config=…)` says how passes run",
            )
        return self if module is None else run(self, module, PassContext.current())

    def __repr__(self) -> str:
        return f"<relay pass: {self}>"

    def __str__(self) -> str:
        return f"{self.name} (from -O{self.level})  {self.info.description}".rstrip()


AnyPass: TypeAlias = Union[Pass, "Sequential"]


_LIST = Kind((list, tuple), "a list of passes")


@frozen
class Sequential:
    """Passes one after another; those that the context does not want are left out. It prints as a list.

    `opt_level`: the level at which they run; None for that of the current `PassContext`.
    """

    passes: tuple[AnyPass, ...]
    opt_level: int | None = None
    name: str = "Sequential"

    def __post_init__(self) -> None:
        expect(self.passes, _LIST, "what a Sequential is made of")
        expect_each(self.passes, Kind((Pass, Sequential), "a pass"), "a part of a Sequential")
        object.__setattr__(self, "passes", tuple(self.passes))

    def __call__(self, module: IRModule) -> IRModule:
        context = PassContext.current()
        if self.opt_level is None or self.opt_level == context.opt_level:
            return _run_sequence(self, module, context)
        with replace(context, opt_level=self.opt_level) as own:
            return _run_sequence(self, module, own)

    def __repr__(self) -> str:
        return f"<relay passes: {', '.join(each.name for each in self.passes)}>"

    def __str__(self) -> str:
        return "\n".join((self.name, *(f"  {line}" for each in self.passes for line in str(each).splitlines())))


def _run_sequence(sequence: Sequential, module: IRModule, context: PassContext) -> IRModule:
    info = PassInfo(sequence.name, 0)
    expect(module, MODULE, f"what {sequence.name} runs on")
    module = infer_type(module)  # what is wrong with the program is found before any pass could be blamed
    if not _begins(info, module, context):
        return module
    for each in sequence.passes:
        if isinstance(each, Sequential):
            module = each(module)
        elif context.runs(each.name, each.level):
            module = run(each, module, context)
    for instrument in context.instruments:
        instrument.run_after_pass(module, info)
    return module


def _begins(info: PassInfo, module: IRModule, context: PassContext) -> bool:
    """Tell the instruments that a pass begins, unless one of them is against it."""
    if not all(instrument.should_run(module, info) for instrument in context.instruments):
        return False
    for instrument in context.instruments:
        instrument.run_before_pass(module, info)
    return True


def run(each: Pass, module: IRModule, context: PassContext) -> IRModule:
    """Run one pass and type what it made: only what has no type yet is looked at.

    What breaks in a pass, or what an instrument finds wrong with it, is a `CompilerBug` that names the pass, the
    function, and a folder with what is needed to see it again; or a `RelayError` (rule `plugin-failed`) where a plug-in
    brings the pass. A `RelayError` of the pass is the user's and passes.
    """
    expect(module, MODULE, f"what {each.name} runs on")
    module = infer_type(module)
    try:
        if not _begins(each.info, module, context):
            return module
        result = each.transform(module, context)
        if result is not module:
            result = _typed(result)
        for instrument in context.instruments:
            instrument.run_after_pass(result, each.info)
    except RelayError:
        raise
    except Exception as error:
        raise failed_pass(each.info, each.home, module, context, error) from error
    return result


def brought(passes: Iterable[Pass], called: str) -> tuple[Pass, ...]:
    """Passes that a plug-in hands in, with its name: those of relay's own among them fail as relay's."""
    own = f"{__name__.partition('.')[0]}."
    return tuple(
        each if each.home.startswith(own) else replace(each, info=replace(each.info, brought_by=called))
        for each in passes
    )


def _typed(module: IRModule) -> IRModule:
    """Functions that do not type are blamed on the pass, not on the user."""
    try:
        return infer_type(module)
    except RelayError as error:
        raise TypeError(f"it made a program that does not type: {error}") from error


class PassDecorator(Generic[Transform]):
    """Makes a pass of a function, or of a class (Relay's form), whose passes are made of its instances' `method`.

    >>> @module_pass(opt_level=1)
    ... class OnlyOne:
    ...     def __init__(self, name):
    ...         self.name = name
    ...     def transform_module(self, module, context):
    ...         return module.with_functions({self.name: module[self.name]})
    >>> print(OnlyOne("loss"))
    OnlyOne (from -O1)
    """

    def __init__(self, make: Callable[[Transform], Pass], method: str) -> None:
        self._make = make
        self._method = method

    @overload
    def __call__(self, written: type[object]) -> PassFactory[...]: ...
    @overload
    def __call__(self, written: Transform) -> Pass: ...
    def __call__(self, written: Any) -> Pass | PassFactory[...]:
        if not isinstance(written, type):
            return self._make(written)
        if not hasattr(written, self._method):
            raise RelayError(
                rule="no-transform", message=f"the class {written.__name__} does not say what its passes do",
                expected=f"a method `{self._method}`", span=caller_span(),
            )  # fmt: skip

        def make(*args: Any, **options: Any) -> Pass:
            return self._make(getattr(written(*args, **options), self._method))

        return PassFactory(update_wrapper(make, written, updated=()))


def module_pass(
    name: str = "",
    level: int = 0,
    *,
    opt_level: int | None = None,
    needs: Iterable[Property] = (),
    keeps: Iterable[Property] = (),
    floating_point: FloatingPointClass = FloatingPointClass.EXACT,
) -> PassDecorator[ModuleTransform]:
    """Make a pass of a function `(module, context) -> module`; of a class whose instances have such a method,
    `transform_module`, what makes a pass of each instance.

    `name` is that of the function unless given; `opt_level` is Relay's name for `level`; `floating_point` says how far
    the pass may change results.

    >>> @module_pass(name="OnlyMain", level=1)
    ... def only_main(module, context):
    ...     return module.with_functions({"main": module["main"]})
    >>> print(only_main)
    OnlyMain (from -O1)
    """

    info = PassInfo(name, level if opt_level is None else opt_level, frozenset(needs), frozenset(keeps), floating_point)

    def decorate(transform: ModuleTransform) -> Pass:
        return _pass(transform, transform, info)

    return PassDecorator(decorate, "transform_module")


def function_pass(
    name: str = "",
    level: int = 0,
    *,
    opt_level: int | None = None,
    needs: Iterable[Property] = (),
    keeps: Iterable[Property] = (),
    floating_point: FloatingPointClass = FloatingPointClass.EXACT,
) -> PassDecorator[FunctionTransform]:
    """Make a pass of a function `(function, module, context) -> function`, run on every global function but those that
    belong to another compiler (attribute `Compiler`): these get what was partitioned, as it was. Of a class whose
    instances have such a method, `transform_function`, make what makes a pass of each instance.

    `name` is that of the function unless given; `opt_level` is Relay's name for `level`; `floating_point` says how far
    the pass may change results.
    """

    info = PassInfo(name, level if opt_level is None else opt_level, frozenset(needs), frozenset(keeps), floating_point)

    def decorate(transform: FunctionTransform) -> Pass:
        def on_module(module: IRModule, context: PassContext) -> IRModule:
            functions = dict(module.functions)
            for name, function in module.functions.items():
                if "Compiler" in function.attrs:
                    continue
                try:
                    functions[name] = transform(function, module, context)
                except RelayError:
                    raise
                except Exception as error:
                    raise FailedFunction(name.name_hint) from error
            return module.with_functions(functions)

        return _pass(on_module, transform, info)

    return PassDecorator(decorate, "transform_function")


class PassFactory(Generic[Options]):
    """What makes a pass of its options: a function, of which it has signature and documentation, and whose name is that
    of all passes that it makes.

    Attributes:
        name: the name of these passes.
        description: what they do, in one line.
    """

    def __init__(self, make: Callable[Options, Pass]) -> None:
        self._make = make
        self.name = make.__name__
        self.description = _first_line(make)
        update_wrapper(self, make)

    def __call__(self, *args: Options.args, **options: Options.kwargs) -> Pass:
        made = self._make(*args, **options)
        return replace(made, info=replace(made.info, name=self.name, description=self.description))


def pass_factory(make: Callable[Options, Pass]) -> PassFactory[Options]:
    """Make a pass with options of a function `(options…) -> pass`.

    >>> @pass_factory
    ... def OnlyOne(name="main"):
    ...     '''Keep one function.'''
    ...     @module_pass(level=1)
    ...     def keep(module, context):
    ...         return module.with_functions({name: module[name]})
    ...     return keep
    >>> print(OnlyOne(name="loss"))
    OnlyOne (from -O1)  Keep one function.
    """
    return PassFactory(make)


def _pass(on_module: ModuleTransform, written: ModuleTransform | FunctionTransform, info: PassInfo) -> Pass:
    """`on_module` as a pass, with what is known of the function that its author wrote."""
    own_name = getattr(written, "__name__", type(written).__name__)
    described = replace(info, name=info.name or own_name, description=_first_line(written))
    return Pass(described, on_module, f"{written.__module__}:{getattr(written, '__qualname__', own_name)}")


def _first_line(documented: object) -> str:
    return (documented.__doc__ or "").strip().partition("\n")[0]
