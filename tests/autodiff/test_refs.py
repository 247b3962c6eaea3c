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


def test_refs_of_others_are_refused():
    with pytest.raises(relay.RelayError) as caught:
        relay.grad(parsed("def @main(%r: ref(float32), %x: float32) { %r := %r^ * %x; %r^ }"), wrt="x")
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
