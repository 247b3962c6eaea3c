"""Which values no clause of a match fits."""

import pytest

from relay.base.diagnostics import RelayError
from relay.infer.exhaustiveness import MAX_CASES, show_pattern, unmatched_cases
from relay.ir.expr import Clause, Constructor, Match, PatternConstructor, PatternTuple, PatternVar, PatternWildcard, Var
from relay.ir.traversal import post_order
from relay.ir.types import GlobalTypeVar, Kind
from relay.ops.table import OPERATORS
from relay.text.module_parser import parse

DATA = """type List[a] { Nil, Cons(a, List[a]) }
type Colour { Red, Green, Blue }
"""


def cases(scrutinee, clauses):
    text = ", ".join(f"{clause} => 0" for clause in clauses)
    module = parse(f'#[version = "0.0.5"]\n{DATA}def @main(%x: {scrutinee}) {{ match? (%x) {{ {text} }} }}', OPERATORS)
    (match,) = [node for node in post_order(module["main"]) if isinstance(node, Match)]
    return [show_pattern(pattern) for pattern in unmatched_cases(match, module)]


@pytest.mark.parametrize(
    ("scrutinee", "clauses", "missing"),
    [
        ("List[int32]", ["Nil", "Cons(_, _)"], []),
        ("List[int32]", ["_"], []),
        ("List[int32]", ["%y"], []),
        ("List[int32]", ["Nil"], ["Cons(_, _)"]),
        ("List[int32]", ["Cons(_, _)"], ["Nil"]),
        ("List[int32]", ["Cons(_, Nil)"], ["Nil", "Cons(_, Cons(_, _))"]),
        ("List[int32]", ["Nil", "Cons(_, Cons(_, _))"], ["Cons(_, Nil)"]),
        ("List[int32]", ["Nil", "Cons(%h, Nil)", "Cons(%h, %t)"], []),
        ("Colour", ["Red"], ["Green", "Blue"]),
        ("Colour", ["Red", "_"], []),
        ("Colour", ["Green", "Blue", "Red", "Red"], []),
        ("(Colour, Colour)", ["(Red, _)", "(_, Red)"],
         ["(Green, Green)", "(Green, Blue)", "(Blue, Green)", "(Blue, Blue)"]),
        ("(Colour, int32)", ["(Red, _)"], ["(Green, _)", "(Blue, _)"]),
        ("(int32, Colour)", ["(_, Red)", "(%a, Blue)"], ["(_, Green)"]),
        ("(List[Colour], Colour)", ["(Nil, Red)", "(Cons(Red, _), _)"],
         ["(Nil, Green)", "(Nil, Blue)", "(Cons(Green, _), _)", "(Cons(Blue, _), _)"]),
        ("((int32, Colour), int32)", ["((_, Red), _)", "((_, Green), _)"], ["((_, Blue), _)"]),
        ("((int32,),)", ["((_,),)"], []),
        ("List[(Colour, Colour)]", ["Cons((Red, Red), _)", "Nil"],
         ["Cons((Red, Green), _)", "Cons((Red, Blue), _)", "Cons((Green, _), _)", "Cons((Blue, _), _)"]),
    ],
)  # fmt: skip
def test_unmatched_cases(scrutinee, clauses, missing):
    assert cases(scrutinee, clauses) == missing


def test_at_most_so_many_are_told():
    many = cases("(Colour, (Colour, (Colour, (Colour, Colour))))", ["(Red, (Red, (Red, (Red, Red))))"])
    assert many[:3] == [
        "(Red, (Red, (Red, (Red, Green))))",
        "(Red, (Red, (Red, (Red, Blue))))",
        "(Red, (Red, (Red, (Green, _))))",
    ]
    assert len(many) == MAX_CASES


def test_that_many_are_missing_is_found_soon():
    """Each of 24 clauses tells two cases of neighbouring columns apart: all that are left are 2 ** 24 at most."""
    bits = [["Red" if at in (row, row + 1) else "_" for at in range(24)] for row in range(24)]
    assert len(cases(f"({', '.join(['Colour'] * 24)})", [f"({', '.join(row)})" for row in bits])) == MAX_CASES


def test_a_match_without_clauses_fits_nothing():
    assert [show_pattern(each) for each in unmatched_cases(Match(Var("x"), ()))] == ["_"]


def test_a_data_type_that_nobody_defines():
    unknown = Constructor("Odd", (), GlobalTypeVar("Parity", Kind.ADT_HANDLE))
    with pytest.raises(RelayError, match="the module does not define the data type Parity"):
        unmatched_cases(Match(Var("x"), (Clause(PatternConstructor(unknown, ()), Var("y")),)))


def test_patterns_are_shown_as_the_text_writes_them():
    inner = PatternTuple((PatternVar(Var("y")),))
    assert show_pattern(PatternTuple((PatternWildcard(), inner))) == "(_, (%y,))"
    assert show_pattern(PatternTuple(())) == "()"
