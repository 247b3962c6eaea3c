"""Automatic differentiation of first-order programs: reverse mode, by transposing what they do, and forward mode.

chain.py         bindings as they are written, and those of them that count
cotangents.py    types of cotangents, their sums, zeros
activity.py      which values depend on what is differentiated
operators.py     the pullback of a call of an operator, by the operator's own rule
program.py       the program, and what is made of its functions
saved.py         what is kept for later: choices that remember which way they went
halves.py        functions in two: what runs now, and what later
scope.py         reverse mode, one scope: what it hands on, and its bindings backward
differentiate.py reverse mode, functions: forward with what the way back needs, and the way back
pushforward.py   the tangent of a call of an operator, by transposing its pullback
tangents.py      the tangents of what a function binds
forward.py       forward mode: scopes and functions with their tangents
linearize.py     forward mode in two halves: the value, and the linear map of tangents
"""
