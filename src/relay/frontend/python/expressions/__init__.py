"""Expressions of Python as expressions of Relay, or as Python values where everything is known now."""
