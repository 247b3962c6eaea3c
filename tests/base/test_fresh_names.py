"""Names that nothing has yet: each given once, in the time that it takes to write them down."""

from __future__ import annotations

from relay.base.names.fresh_names import FreshNames


def test_every_name_is_given_once() -> None:
    taken = {"f", "f3", "g_2"}
    names = FreshNames(taken.__contains__)
    given = [names.take(wanted) for wanted in ("f", "f", "f2", "g", "g", "g_2", "f")]
    assert given == ["f2", "f4", "f22", "g", "g2", "g_22", "f5"]
    assert taken.isdisjoint(given)


def test_what_is_taken_may_grow() -> None:
    taken: set[str] = set()
    names = FreshNames(taken.__contains__, "_")
    assert names.take("f") == "f"
    taken.add("f_2")
    assert names.take("f") == "f_3"


def test_a_thousand_names_of_one_stem_are_found_in_two_thousand_looks() -> None:
    looks: list[str] = []

    def is_taken(name: str) -> bool:
        looks.append(name)
        return name == "f"

    names = FreshNames(is_taken)
    assert len({names.take("f") for _ in range(1000)}) == 1000
    assert len(looks) == 2000
