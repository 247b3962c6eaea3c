"""Automatic differentiation of first-order programs: reverse mode, by transposing what they do, and forward mode.

chain.py         bindings as they are written, and those of them that count
cotangents.py    types of cotangents, their sums, zeros
activity.py      which values depend on what is differentiated
operators.py     the pullback of a call of an operator, by the operator's own rule
program.py       the program, and what is made of its functions
scope.py         reverse mode, one scope: what it hands on, and its bindings backward
differentiate.py reverse mode, functions: forward with what the way back needs, and the way back
pushforward.py   the tangent of a call of an operator, by transposing its pullback
tangents.py      forward mode: scopes and functions with their tangents
"""
