"""`relay.dataflow_pattern`: patterns under the name that users of Relay know; they live in `relay.dataflow`."""

from relay.dataflow import *  # noqa: F403
from relay.dataflow import __all__ as __all__
