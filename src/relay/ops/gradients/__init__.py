"""Gradients of operators that need operators of rooms above their own: a file for each room, a function for each rule.
Records name them by `gradient_above`."""
