"""Mutants that do what the function does, by name, with the reason: no test can find them."""

EQUIVALENT: dict[str, str] = {
    "arith/bounds.py _floor_mod: largest < 0 → largest <= 0": "the end of a divisor is never 0",
    "arith/expr.py add: if not right_terms and (not right_constant) → if False": "the long way gives the same sum",
    "arith/expr.py floor_divide: if right == 1 → if False": "the long way takes every multiple of 1 out",
    "arith/expr.py floor_divide: right > 0 → right >= 0": "0 was refused before",
    "forms/node_types.py NodeTypes.set: if known is type_ → if False": "a type is what it is: nothing is to be related",
    "forms/node_types.py NodeTypes.postpone: if self.unifier.postponed → if True": "there is nothing to take then",
    "infer/own_functions.py with_own_functions: if not any(map(_is_open, order)) → if False": "what is made of the same"
    " parts is the same",
    "unification/generalise.py quantified: if mismatch is not None → if False": "a new type variable contains nothing",
    "normalize/a_normal_form.py _outermost_first: if not (isinstance(node, Function) and node.attrs.get('Primitive'))"
    " → if True": "names inside a primitive function are asked for by nobody",
    "normalize/continuation_passing.py _Conversion._handing: 0 → 1": "all ways of a choice go on alike",
}
