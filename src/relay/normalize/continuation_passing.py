"""Say what comes next by a function: continuation-passing style (Appel, Compiling with Continuations, 1992).

    before: def @f(%x: float32) -> float32 { if (%x > 0f) { @f(%x - 1f) } else { %x } }
    after:  def @f_cps[r](%x: float32, %k: fn (float32) -> r) -> r {
              if (%x > 0f) { @f_cps(%x - 1f, %k) } else { %k(%x) }
            }

Every call of a function becomes the last thing that is done; what would come after it is handed along. Operators and
constructors stay as they are: they return at once. All functions of a program give one type, `r`, so a function type
`fn (a) -> b` becomes `fn (a, fn (b) -> r) -> r`. A choice whose value is used further binds that use as a function, so
that nothing is duplicated.
"""

from __future__ import annotations

from relay.base.diagnostics import CompilerBug, RelayError
from relay.ir.expr import Call, Constructor, Expr, Function, GlobalVar, If, Let, Match, Op, Var, pattern_vars
from relay.ir.module import IRModule
from relay.ir.sharing import Scope, let_chain, scopes
from relay.ir.traversal import children, rebuild
from relay.ir.type_traversal import map_type
from relay.ir.types import FuncType, RefType, TupleType, Type, TypeCall, TypeVar, type_parts
from relay.ir.variables import bound_vars, renaming
from relay.normalize.a_normal_form import is_atom, to_a_normal_form

_SUFFIX = "_cps"


def cps_name(name: GlobalVar) -> GlobalVar:
    """What a global function is called in continuation-passing style."""
    return GlobalVar(f"{name.name_hint}{_SUFFIX}")


def direct_name(name: GlobalVar) -> GlobalVar:
    """What a function in continuation-passing style is called without it."""
    return GlobalVar(name.name_hint.removesuffix(_SUFFIX))


def to_cps(function: Function, module: IRModule) -> Function:
    """A typed function in continuation-passing style: one parameter more, `k`, that takes the result. Calls of global
    functions go to those called `cps_name`.

    Raises `RelayError` (rule `no-cps`) where a data type holds functions: its definition would have to change.
    """
    _check_data_types(module)
    answer = TypeVar("r")
    return _Conversion(to_a_normal_form(function), module, answer).converted((*function.type_params, answer))


def is_cps(function: Function) -> bool:
    """Whether a typed function is in continuation-passing style, and gives what its continuation does."""
    match _type(function.params[-1]) if function.params else None:
        case FuncType((_,), TypeVar() as answer, ()):
            return answer in function.type_params and function.ret_type == answer
        case _:
            return False


def un_cps(name: GlobalVar, function: Function) -> Function:
    """The function that calls `name`, which is `function`, in continuation-passing style, and takes the result out.
    Functions among its parameters and in its result stay in that style."""
    *taken, continuation = function.params
    type_ = _type(continuation)
    if not isinstance(type_, FuncType):
        raise CompilerBug("UnCPS", f"{name} takes no continuation")
    (given,), answer = type_.arg_types, type_.ret_type
    params = tuple(Var(each.name_hint, _with_answer(_type(each), answer, given)) for each in taken)
    result = Var("result")
    body = Call(name, (*params, Function((result,), result)))
    type_params = tuple(each for each in function.type_params if each != answer)
    return Function(params, body, given, type_params, function.attrs, span=function.span)


def _with_answer(type_: Type | None, answer: Type, given: Type) -> Type | None:
    """A type where what comes last is the result itself."""
    return None if type_ is None else map_type(type_, lambda each: given if each == answer else each)


def _type(param: Var) -> Type | None:
    return param.type_annotation or param.checked_type


def cps_type(type_: Type, answer: TypeVar) -> Type:
    """The type of a value in a program whose functions take continuations.

    >>> a, b = TypeVar("a"), TypeVar("b")
    >>> print(cps_type(FuncType((a,), b), TypeVar("r")))
    fn (a, fn (b) -> r) -> r
    """
    match type_:
        case FuncType(arg_types, ret_type, type_params):
            arguments = tuple(cps_type(each, answer) for each in arg_types)
            return FuncType((*arguments, FuncType((cps_type(ret_type, answer),), answer)), answer, type_params)
        case TupleType(fields):
            return TupleType(tuple(cps_type(each, answer) for each in fields))
        case RefType(value):
            return RefType(cps_type(value, answer))
        case TypeCall(func, args):
            return TypeCall(func, tuple(cps_type(each, answer) for each in args))
        case _:
            return type_


def _check_data_types(module: IRModule) -> None:
    for constructor in module.constructors():
        if any(isinstance(part, FuncType) for type_ in constructor.inputs for part in type_parts(type_)):
            raise RelayError(
                rule="no-cps",
                message=f"the data type {constructor.belong_to.name} holds functions, which would have another type",
                expected="data types whose constructors take no functions",
                found=f"{constructor.name_hint}({', '.join(map(str, constructor.inputs))})",
            )


class _Conversion:
    """One function in A-normal form: each scope is a chain of bindings, converted when its inner scopes are."""

    def __init__(self, function: Function, module: IRModule, answer: TypeVar) -> None:
        self.function = function
        self.module = module
        self.answer = answer
        self.fresh = {var: self._retyped(var, function) for var in bound_vars(function)}
        self.scopes = scopes(function.body)
        self.after: dict[Scope, Var] = {self.scopes.root: self._continuation(function)}  # what each scope calls
        self.done: dict[Scope, Expr] = {}  # each scope, converted
        self.functions: dict[Function, Function] = {}  # a function in two places stays one

    def converted(self, type_params: tuple[TypeVar, ...]) -> Function:
        for scope in reversed(self._outermost_first()):
            self.done[scope] = self._scope(scope)
        return self._with_continuation(self.function, self.scopes.root, type_params)

    def _retyped(self, var: Var, function: Function) -> Var:
        type_ = var.type_annotation or (var.checked_type if var in function.params else None)
        return Var(var.name_hint, None if type_ is None else cps_type(type_, self.answer), span=var.span)

    def _continuation(self, function: Function) -> Var:
        type_ = function.checked_type
        if not isinstance(type_, FuncType):
            raise CompilerBug("continuation_passing", "a function without a type")
        return Var("k", FuncType((cps_type(type_.ret_type, self.answer),), self.answer))

    def _outermost_first(self) -> list[Scope]:
        """Every scope after the one around it, with what it calls at its end: the continuation of its function, or
        what follows the choice whose branch it is."""
        order = [self.scopes.root]
        for scope in order:
            lets, result = let_chain(scope.result)
            for node in scope.order:
                inner = self.scopes.inner(node)
                if isinstance(node, Function):
                    self.after[inner[0]] = self._continuation(node)
                elif inner:
                    is_last = lets[-1].value is node and result is lets[-1].var
                    after = self.after[scope] if is_last else Var("then")
                    self.after.update((each, after) for each in inner)
                order.extend(inner)
        return order

    def _scope(self, scope: Scope) -> Expr:
        lets, result = let_chain(scope.result)
        after = self.after[scope]
        if lets and result is lets[-1].var and not _returns(lets[-1].value):
            *lets, last = lets
            done = self._handing(last.value, after)
        else:
            done = Call(after, (self._value(result),))
        for let in reversed(lets):
            var, value = self.fresh[let.var], let.value
            if _returns(value):
                done = Let(var, self._simple(value), done, span=value.span)
            else:
                done = self._handing(value, Function((var,), done))
        return done

    def _handing(self, value: Expr, rest: Var | Function) -> Expr:
        """A call of a function, or a choice, that hands its result to `rest`."""
        if isinstance(value, Call):
            return Call(self._value(value.op), (*map(self._value, value.args), rest), span=value.span)
        inner = self.scopes.inner(value)
        choice = rebuild(value, [self._value(children(value)[0]), *(self.done[each] for each in inner)])
        if isinstance(choice, Match):
            bound = {var: self.fresh[var] for clause in choice.clauses for var in pattern_vars(clause.lhs)}
            choice = renaming(bound)(choice)
        return choice if isinstance(rest, Var) else Let(self.after[inner[0]], rest, choice, span=value.span)

    def _simple(self, value: Expr) -> Expr:
        """A value that is there at once."""
        if is_atom(value):
            return self._value(value)
        if isinstance(value, Call):
            arguments = tuple(map(self._value, value.args))
            return Call(value.op, arguments, value.attrs, value.given_type_args, span=value.span)
        return rebuild(value, [self._value(each) for each in children(value)])

    def _value(self, atom: Expr) -> Expr:
        match atom:
            case Var():
                return self.fresh.get(atom, atom)
            case GlobalVar() if atom in self.module:
                return cps_name(atom)
            case Function() if not atom.attrs.get("Primitive"):
                if atom not in self.functions:
                    inner = self.scopes.inner(atom)[0]
                    self.functions[atom] = self._with_continuation(atom, inner, atom.type_params)
                return self.functions[atom]
            case Op(operator):
                return _handing_on(atom, len(operator.inputs))
            case Constructor(inputs=inputs) if inputs:
                return _handing_on(atom, len(inputs))
            case _:
                return atom

    def _with_continuation(self, function: Function, body: Scope, type_params: tuple[TypeVar, ...]) -> Function:
        params = (*(self.fresh[each] for each in function.params), self.after[body])
        return Function(params, self.done[body], self.answer, type_params, function.attrs, span=function.span)


def _returns(value: Expr) -> bool:
    """Whether a value is there at once: no choice, and no call but of an operator or a constructor."""
    if isinstance(value, Call):
        callee = value.op
        return isinstance(callee, Op | Constructor) or (
            isinstance(callee, Function) and bool(callee.attrs.get("Primitive"))
        )
    return not isinstance(value, If | Match)


def _handing_on(callee: Expr, arity: int) -> Function:
    """A function that calls an operator or a constructor and hands the result on."""
    params = tuple(Var(f"a{position}") for position in range(arity))
    k = Var("k")
    return Function((*params, k), Call(k, (Call(callee, params),)), span=callee.span)
