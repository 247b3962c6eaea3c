"""Calls and functions: put in place, copied for what is known of their arguments, made global, evaluated, named."""
