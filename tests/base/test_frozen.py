"""`@frozen` makes what `@dataclass(frozen=True, slots=True)` makes, sooner."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from typing import Any, ClassVar

import pytest

from relay.base.frozen import frozen, mutable


def make(decorate: Any) -> Any:
    class Part:
        name: str
        sizes: tuple[int, ...] = ()
        notes: list[str] = field(default_factory=list, compare=False)
        origin: str = field(default="here", kw_only=True)
        total: int = field(init=False)
        cache: object = field(default=None, init=False, repr=False, compare=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "total", sum(self.sizes))

    Part.__qualname__ = "Part"
    return decorate(Part)


OURS, THEIRS = make(frozen), make(dataclass(frozen=True, slots=True))
ARGUMENTS = [
    (("a",), {}), (("a", (1, 2)), {"origin": "there"}), ((), {"name": "b", "notes": ["n"]}), (("a", (), ["n"]), {}),
]  # fmt: skip


@frozen
class Pair:
    left: int
    right: object = None


@frozen
class Triple(Pair):
    third: int = 3


@frozen
class One:
    value: float


@frozen
class Nothing:
    pass


@frozen(eq=False, repr=False)
class ByIdentity:
    value: int


@frozen
class OwnEquality:
    value: int
    other: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OwnEquality) and self.value == other.value


@pytest.mark.parametrize(("arguments", "named"), ARGUMENTS)
def test_instances_are_like_those_of_dataclasses(arguments, named):
    ours, theirs = OURS(*arguments, **named), THEIRS(*arguments, **named)
    assert repr(ours) == repr(theirs)
    assert hash(ours) == hash(theirs)
    assert ours == OURS(*arguments, **named) != OURS("other")
    assert ours != theirs
    assert [getattr(ours, each.name) for each in fields(ours)] == [getattr(theirs, e.name) for e in fields(theirs)]
    assert OURS.__match_args__ == THEIRS.__match_args__
    assert OURS.__slots__ == THEIRS.__slots__


def test_defaults_that_are_made_are_made_each_time():
    assert OURS("a").notes is not OURS("a").notes


def test_wrong_arguments_are_refused_in_the_same_words():
    for arguments in ((), ("a", (), [], "there")):
        with pytest.raises(TypeError) as ours:
            OURS(*arguments)
        with pytest.raises(TypeError) as theirs:
            THEIRS(*arguments)
        assert str(ours.value) == str(theirs.value)


def test_nothing_is_set_or_deleted():
    pair = Pair(1)
    for change in (lambda: setattr(pair, "left", 2), lambda: setattr(pair, "new", 2), lambda: delattr(pair, "left")):
        with pytest.raises(FrozenInstanceError):
            change()
    assert pair == Pair(1)


@pytest.mark.parametrize("instance", [Pair(1, "x"), Triple(1, 2, 4), One(0.5), Nothing()])
def test_copies_are_equal(instance):
    pickled = pickle.loads(pickle.dumps(instance))
    for other in (copy.copy(instance), copy.deepcopy(instance), pickled, replace(instance)):
        assert other == instance
        assert hash(other) == hash(instance)
        assert type(other) is type(instance)


def test_what_derives_has_the_fields_of_both():
    assert repr(Triple(1, third=5)) == "Triple(left=1, right=None, third=5)"
    assert Triple(1) != Pair(1)
    match Triple(1, 2, 3):
        case Pair(left, right):
            assert (left, right) == (1, 2)


def test_equality_is_by_identity_or_of_the_class_where_it_says_so():
    assert ByIdentity(1) != ByIdentity(1)
    assert "object at" in repr(ByIdentity(1))
    assert OwnEquality(1, 2) == OwnEquality(1, 3)
    assert hash(OwnEquality(1, 2)) != hash(OwnEquality(1, 3))


def test_an_instance_that_contains_itself_has_a_text():
    inside: list[object] = []
    pair = Pair(1, inside)
    inside.append(pair)
    assert repr(pair) == "Pair(left=1, right=[...])"


@mutable
class Counter:
    count: int = 0
    notes: list[str] = field(default_factory=list)


@mutable(eq=True)
class EqualCounter:
    count: int = 0


def test_instances_of_mutable_classes_change_and_are_themselves():
    counter = Counter()
    counter.count += 1
    assert repr(counter) == "Counter(count=1, notes=[])"
    assert counter != Counter(1)
    assert len({counter, Counter(1)}) == 2
    assert Counter.__slots__ == ("count", "notes")
    assert Counter().notes is not Counter().notes


def test_mutable_classes_with_equality_have_no_hash():
    assert EqualCounter(1) == EqualCounter(1) != EqualCounter(2)
    with pytest.raises(TypeError, match="unhashable"):
        hash(EqualCounter())


def test_variables_of_the_class_are_no_fields():
    @frozen
    class Sized:
        rank: ClassVar[int] = 2
        extent: int = 0

    assert ([each.name for each in fields(Sized)], Sized.__slots__, Sized.rank) == (["extent"], ("extent",), 2)


def test_a_default_that_all_instances_would_share_is_refused():
    class Shared:
        items: list[int] = []  # noqa: RUF012

    with pytest.raises(ValueError, match="mutable default for the field 'items'"):
        frozen(Shared)
