"""Programs with refs: gradients by differences, tangents and second derivatives, wherever refs go."""

import numpy as np
import pytest

import relay
from relay.transform.framework.passes import Sequential
from relay.transform.pipelines import BEFORE_RULES
from tests.autodiff.numerical import check_gradient, differences, parsed, runner
from tests.messages import check_message

PROGRAMS = {
    "read and written": """
        def @main(%x: float64, %y: float64) { let %r = ref(%x); %r := %r^ * %y; %r := %r^ * %r^; %r^ + %x }""",
    "around a loop": """
        def @main(%x: float64, %y: float64) {
          let %r = ref(%x); let %i = ref(0);
          let %loop = fn (%k: int32) -> float64 {
            if (%k == 0) { %r^ } else { %r := sin(%r^) * %y; %i := %i^ + 1; %loop(%k - 1) }
          };
          %loop(3) * %r^
        }""",
    "in data, twice": """
        type List[A] { Cons(A, List[A]), Nil }
        def @bump(%r: ref(float64), %x: float64) -> () { %r := %r^ * %x }
        def @walk(%l: List[ref(float64)], %x: float64) -> () {
          match (%l) { Nil => (), Cons(%h, %t) => let %u = @bump(%h, %x); @walk(%t, %x) }
        }
        def @main(%x: float64, %y: float64) {
          let %a = ref(%x); let %b = ref(%y); let %u = @walk(Cons(%a, Cons(%b, Cons(%a, Nil))), sin(%x)); %a^ * %b^
        }""",
    "chosen, and captured by closures": """
        def @main(%x: float64, %y: float64) {
          let %c = %x < %y; let %a = ref(%x); let %b = ref(sin(%x)); let %r = if (%c) { %a } else { %b };
          let %f = if (%c) { fn (%z: float64) -> float64 { %r := %r^ * %z; %a^ } }
                   else { fn (%z: float64) -> float64 { %b := %z; %r^ * %a^ } };
          %f(%y) + %f(%x * %x) + %a^ * %b^
        }""",
    "beside a loop that touches none": """
        def @power(%x: float64, %k: int32) -> float64 { if (%k <= 0) { 1f64 } else { %x * @power(%x, %k - 1) } }
        def @main(%x: float64, %y: float64) {
          let %r = ref(%x);
          let %f = fn (%z: float64) -> float64 { %r := %r^ * %z; %r^ };
          %f(@power(%y, 3)) + %f(@power(%x, 2))
        }""",
    "refs to refs": """
        def @main(%x: float64, %y: float64) {
          let %a = ref(%x); let %b = ref(%a); let %inner = %b^; %inner := %a^ * %y; %b := ref(%a^ * %x);
          let %last = %b^; %last^ * %a^
        }""",
}


@pytest.mark.parametrize("title", PROGRAMS)
def test_refs_have_derivatives_in_both_modes(title):
    module = parsed(PROGRAMS[title])
    for arguments in ((np.float64(0.7), np.float64(1.2)), (np.float64(1.1), np.float64(0.4))):
        check_gradient(module, *arguments)
        by_x, by_y = differences(runner(module), arguments)
        _, tangent = runner(relay.jvp(module), compiled=False)(*arguments, np.float64(2.0), np.float64(-1.0))
        np.testing.assert_allclose(tangent, 2.0 * by_x - by_y, rtol=1e-6)
        first = runner(relay.grad(module, wrt=0), compiled=False)
        _, second = runner(relay.jvp(relay.grad(module, wrt=0), wrt=0), compiled=False)(*arguments, np.float64(1.0))
        np.testing.assert_allclose(second, differences(first, arguments)[0], rtol=1e-6, atol=1e-8)


UPDATED = "def @{name}(%r: ref(float32), %x: float32) {{ let %u = (%r := %r^ * %x); %r^ * %x }}\n"
"""r·x² of what a ref holds; it holds r·x then."""


def test_a_ref_that_is_a_parameter_counts_as_what_it_holds():
    module = parsed(UPDATED.format(name="main"))

    def found(derivative: relay.IRModule, *more: float):
        """What a derivative gives where the ref holds 3 and x is 2, and what the ref holds then."""
        ref = relay.ref(np.float32(3))
        return relay.build(derivative)(ref, 2.0, *more), float(ref.value)

    assert found(relay.grad(module)) == ((4, 12), 6)
    assert found(relay.value_and_grad(module, wrt="x")) == ((12, 12), 6)
    assert found(relay.vjp(module), 10.0) == ((12, (40, 120)), 6)
    assert found(relay.jvp(module), 1.0, 10.0) == ((12, 124), 6)
    (value, tangent), held = found(relay.linearize(module))
    assert (value, tangent(1.0, 10.0), held) == (12, 124, 6)
    assert found(relay.grad(relay.grad(module, wrt="x"), wrt="x")) == (6, 6)
    assert found(relay.jvp(relay.grad(module, wrt="x")), 1.0, 1.0) == ((12, 10), 6)


@pytest.mark.parametrize(
    ("derivative", "expected"),
    [("grad(@f, wrt=[0, 1])(%r, %x)", (4, 12)), ("jvp(@f, wrt=1)(%r, %x, 1f)", (12, 12)),
     ("grad(fn (%y: float32) { @f(%r, %y) }, wrt=0)(%x)", 12)],
)  # fmt: skip
def test_a_ref_of_the_program_is_handed_to_a_derivative(derivative: str, expected: object):
    main = f"def @main(%x: float32) {{ let %r = ref(3f); let %d = {derivative}; (%d, %r^) }}"
    assert relay.build(parsed(UPDATED.format(name="f") + main))(2.0) == (expected, 6)


def test_refs_that_are_parameters_of_loops_over_open_extents_and_of_data():
    loop = parsed("""
        def @go(%r: ref(Tensor[(n,), float64]), %x: Tensor[(n,), float64], %k: int32) -> () {
          if (%k == 0) { () } else { let %u = (%r := sin(%r^) * %x); @go(%r, %x, %k - 1) }
        }
        def @main(%r: ref(Tensor[(n,), float64]), %x: Tensor[(n,), float64]) {
          let %u = @go(%r, %x, 3); sum(%r^ * %x)
        }""")
    held, x = np.array([0.3, 0.7]), np.array([1.1, 0.4])
    values = relay.build(loop)

    def value(held: np.ndarray, x: np.ndarray) -> float:
        return float(values(relay.ref(held), x))

    by_parts = relay.build(relay.grad(loop))(relay.ref(held), x)
    for found, expected in zip(by_parts, differences(value, (held, x)), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    pushed = relay.vjp(
        parsed("""
        type List[A] { Cons(A, List[A]), Nil }
        def @sum(%l: List[float32]) -> float32 { match (%l) { Cons(%h, %t) => %h * %h + @sum(%t), Nil => 0f } }
        def @main(%r: ref(List[float32]), %x: float32) { let %u = (%r := Cons(%x, %r^)); @sum(%r^) }""")
    )
    assert str(pushed["main"].checked_type) == (
        "fn (ref(List[float32]), float32, float32) -> (float32, (List[float32], float32))"
    )


def test_refs_in_what_comes_from_outside_are_refused():
    with pytest.raises(relay.RelayError) as caught:
        relay.grad(parsed("def @main(%p: (ref(float32), float32)) { let %r = %p.0; %r := %r^ * %p.1; %r^ }"))
    check_message("gradients", "a ref from outside", caught.value)


def test_only_refs_that_others_see_are_kept_in_a_store():
    plain = "def @main(%x: float32) { %x * %x }"
    local = "def @main(%x: float32) { let %r = ref(%x); %r := %r^ * %r^; %r^ }"
    chosen = """
        def @main(%x: float32) {
          let %r = ref(%x); let %s = ref(%x); let %t = if (%x < 1f) { %r } else { %s }; %t := %r^ * %s^; %r^
        }"""
    assert ["Store" in str(relay.grad(parsed(each), wrt=0)) for each in (plain, local, chosen)] == [False, False, True]


@pytest.mark.parametrize("shape", ["(4, 3)", "(n, 3)"])
def test_the_gradient_of_a_program_with_local_refs_has_neither_refs_nor_data(shape):
    program = f"""
        def @main(%x: Tensor[{shape}, float32]) {{
          let %r = ref(%x); %r := %r^ * %x; sum(%r^ * %x)
        }}"""
    gradient = relay.grad(parsed(program), wrt=0)
    optimized = Sequential(BEFORE_RULES)(gradient)
    assert not optimized.type_definitions
    assert len(optimized.functions) == 1
    x = np.arange(12, dtype="float32").reshape(4, 3)
    np.testing.assert_allclose(relay.build(gradient)(x), 3 * x * x, rtol=1e-6)
