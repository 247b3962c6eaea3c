"""Mutants that do what the function does, by name, with the reason: no test can find them."""

EQUIVALENT: dict[str, str] = {
    "arith/expr.py _counts: 1 → 2": "twice of all counts tells the same factors apart",
    "arith/expr.py add: if not left_terms and (not left_constant) → if False": "the long way gives the same sum",
    "infer/checks.py _related: if found is None → if False": "of no type nothing is undecided",
    "infer/eager.py typed_by_parts: if type_ is None → if False": "a new node has no type before",
    "ir/expr.py Function.with_attrs: if self.checked_type is None → if False": "a new function has no type before",
    "unification/dimensions.py agreement: isinstance(left, AnyDimension) or isinstance(right, AnyDimension) →"
    " isinstance(left, AnyDimension) and isinstance(right, AnyDimension)": "nothing is proven of an unknown extent",
    "unification/generalise.py quantified: if not isinstance(final, FuncType) → if False": "what is found for the"
    " parts of a function's type leaves it one",
    "arith/bounds.py _floor_mod: largest < 0 → largest <= 0": "the end of a divisor is never 0",
    "arith/bounds.py _floor_mod: smallest > 0 → smallest >= 0": "the end of a divisor is never 0",
    "arith/bounds.py _sum: coefficient < 0 → coefficient <= 0": "a sum has no term whose coefficient is 0",
    "arith/expr.py add: if not right_terms and (not right_constant) → if False": "the long way gives the same sum",
    "arith/expr.py floor_divide: if right == 1 → if False": "the long way takes every multiple of 1 out",
    "arith/expr.py floor_divide: right > 0 → right >= 0": "0 was refused before",
    "forms/node_types.py NodeTypes.set: if known is type_ → if False": "a type is what it is: nothing is to be related",
    "forms/node_types.py NodeTypes.postpone: if self.unifier.postponed → if True": "there is nothing to take then",
    "infer/own_functions.py with_own_functions: if not any(map(_is_open, order)) → if False": "what is made of the same"
    " parts is the same",
    "ir/scope_builder.py ScopeBuilder.let: if value.checked_type is not None → if True": "a new variable has no type",
    "ir/sharing.py _assign: 0 → 1": "of a function nobody asks which child it is",
    "ir/sharing.py _assign: 0 → 1 (3)": "of a block nobody asks which child it is",
    "ir/sharing.py _innermost_around: left.depth >= right.depth → left.depth > right.depth": "both go up in the end",
    "ir/sharing.py _open: 1 → 2": "only the order of depths matters",
    "ir/structural.py _Canonical._dimension: case _ → no such case": "there are no other dimensions",
    "ir/structural.py _Canonical._inner: case Var() | GlobalVar() | Constant() | Constructor() | Op() → no such case": "leaves were encoded before",  # noqa: E501
    "ir/type_compatibility.py compatible: if one is other → if False": "the long way finds nothing either",
    "normalize/continuation_passing.py _Conversion._outermost_first: if inner → if True": "there is nothing to note",
    "normalize/continuation_passing.py _Conversion._retyped: if type_ is None → if False": "it gives None, too",
    "normalize/graph_normal_form.py to_graph_normal_form: if not lets → if False": "the long way finds nothing either",
    "unification/generalise.py quantified: if mismatch is not None → if False": "a new type variable contains nothing",
    "unification/known.py annotated_type: if var.type_annotation is None → if False": "no type has nothing unknown",
    "unification/unify.py Unifier.relate: if found is expected → if False": "the first step says the same",
    "unification/unify.py Unifier.zonk: if not self.bindings and (not self.extents) → if False": "nothing is put in",
    "normalize/a_normal_form.py _outermost_first: if not (isinstance(node, Function) and node.attrs.get('Primitive'))"
    " → if True": "names inside a primitive function are asked for by nobody",
    "normalize/continuation_passing.py _Conversion._handing: 0 → 1 (2)": "all ways of a choice go on alike",
    "arith/expr.py floor_divide: rest.right > 0 → rest.right >= 0": "a divisor is never 0",
    "arith/left_sides.py _match_value_and_quotient: 0 → 1": "nothing is divided by 1",
    "arith/simplify.py Assumptions._to_fixed_point: if isinstance(rebuilt, (int, Symbol, Atom)) → if True": "what was"
    " rebuilt is simplified anew either way",
    "unification/unify.py Unifier.zonk: if self.extents → if True": "without extents each stays as it is",
    "arith/expr.py Sum.__str__: coefficient < 0 → coefficient <= 0": "a sum has no term whose coefficient is 0",
    "arith/expr.py Sum.__str__: coefficient < 0 → coefficient <= 0 (2)": "a sum has no term whose coefficient is 0",
    "ir/type_compatibility.py compatible: continue → pass": "the long way finds nothing either",
    "ir/type_traversal.py instantiated: if not types → if False": "a type in which nothing is replaced stays the same",
    "arith/expr.py _counts: 0 → 1": "one more of all counts tells the same factors apart",
    "arith/simplify.py Assumptions._known_constant: if isinstance(expr, Symbol) → if True": "a number has no range",
    "arith/simplify.py _narrow: coefficient > 0 → coefficient >= 0": "a sum has no term whose coefficient is 0",
    "arith/left_sides.py _match_quotient: expr.right > 0 → expr.right >= 0": "a divisor is never 0",
}
