"""Passes under the names that users of Relay know, and what they run under: all that `by_name.py` lists.

They are loaded when a name is asked for here: a program is compiled without most of them.
"""

from typing import TYPE_CHECKING

from relay.base.names.loading import names_of

if TYPE_CHECKING:
    from relay.transform.by_name import *  # noqa: F403

__getattr__, __dir__ = names_of("relay.transform.by_name")
