"""The collector of cycles is as it was, however the work ends."""

import gc

import pytest
from tests.driver.processes import python

from relay.base.collector import collection_paused


def test_it_is_switched_on_again_after_an_error() -> None:
    with pytest.raises(ValueError, match="broken"), collection_paused():
        raise ValueError("broken")
    assert gc.isenabled()


def test_who_switched_it_off_keeps_it_off() -> None:
    gc.disable()
    try:
        with collection_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_what_was_made_in_the_pause_is_not_looked_through_when_it_ends() -> None:
    with collection_paused():
        made = [[k] for k in range(10_000)]
    assert not {id(each) for each in gc.get_objects(generation=0)} & {id(each) for each in made}
    assert gc.get_freeze_count() == 0


def test_nothing_is_looked_through_while_the_compiler_is_loaded() -> None:
    code = (
        "import gc, relay\n"
        "found = []\n"
        "gc.callbacks.append(lambda phase, info: found.append(info['generation']))\n"
        "relay.build\n"
        "assert gc.isenabled()\n"
        "print(found.count(2))\n"
    )
    assert python(code).strip() == "0"
