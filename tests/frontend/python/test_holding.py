"""Lists that a way through a loop or branch hands on, and that are changed on others."""

from __future__ import annotations

import pytest

import relay

from .running import agrees


def handed_on_and_begun_again(text: list[int]):
    words = []
    word = []
    for c in [*text, 32]:
        if c > 64:
            word.append(c)
        elif word:
            words.append(word)
            word = []
    word.append(7)
    return words, word


def begun_again_behind_continue(text: list[int]):
    words = []
    word = []
    for c in text:
        if c > 64:
            word.append(c)
            continue
        words.append(word)
        word = []
    word.append(7)
    words.append(word)
    return words


def handed_on_where_the_loop_ends(text: list[int]):
    words = []
    word = []
    for c in text:
        word.append(c)
        if c < 66:
            words.append(word)
            word = [1]
            break
    word.append(7)
    return words, word


def handed_on_on_one_way(text: list[int]):
    words = []
    word = [1]
    if text[0] > 64:
        words.append(word)
        word = [2]
    word.append(7)
    return words, word


@pytest.mark.parametrize(
    "definition",
    [handed_on_and_begun_again, begun_again_behind_continue, handed_on_where_the_loop_ends, handed_on_on_one_way],
)
@pytest.mark.parametrize("text", [[70, 71, 0, 72, 0, 0, 73], [1, 70, 2, 71], [70]])
def test_a_list_that_a_way_hands_on_is_changed_on_others(definition, text):
    agrees(definition, text)


def changed_in_the_turn_behind(text: list[int]):
    words = []
    word = []
    for c in text:
        if c > 64:
            word.append(c)
            continue
        words.append(word)
    return words


def changed_before_it_is_handed_on(text: list[int]):
    words = []
    word = [0]
    for c in text:
        if c <= 64:
            words.append(word)
            continue
        word.append(c)
    return words


def changed_behind_the_branch(text: list[int]):
    words = []
    word = [1]
    if text[0] > 64:
        words.append(word)
    word.append(7)
    return words, word


def changed_behind_the_loop(text: list[int]):
    words = []
    word = []
    for c in text:
        word.append(c)
        if c < 66:
            words.append(word)
            break
    word.append(7)
    return words, word


@pytest.mark.parametrize(
    "definition",
    [changed_in_the_turn_behind, changed_before_it_is_handed_on, changed_behind_the_branch, changed_behind_the_loop],
)
def test_a_change_of_what_some_way_hands_on_is_refused(definition):
    with pytest.raises(relay.RelayError) as caught:
        relay.function(definition)([70, 1])
    assert caught.value.rule == "python-subset"
    assert "may" in caught.value.message
