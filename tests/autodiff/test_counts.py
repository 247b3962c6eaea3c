"""What derivatives cost: multiply-adds of the optimised program, beside those of the program itself.

A product of matrices has two more in its gradient, one for each factor; along a direction it has one for each factor
that changes. So a gradient is 3 times the program, and a Hessian-vector product, which needs the tangents of all of the
gradient but not the gradients of the weights themselves, 8 times.
"""

import subprocess
import sys
from pathlib import Path

import pytest

import relay
from relay.analysis.multiply_adds import get_total_mac_number
from relay.infer.infer_type import infer_type
from relay.ir.module import IRModule
from relay.transform.framework.passes import Sequential
from relay.transform.pipelines import BEFORE_RULES
from tests.autodiff.numerical import parsed
from tests.growth import is_linear

NETWORKS = {
    "perceptrons": """
        def @main(%x: Tensor[(16, 64), float32], %w: Tensor[(128, 64), float32], %v: Tensor[(32, 128), float32]) {
          sum(tanh(nn.dense(tanh(nn.dense(%x, %w)), %v)))
        }""",
    "convolutions": """
        def @main(%x: Tensor[(2, 8, 16, 16), float32], %w: Tensor[(16, 8, 3, 3), float32],
                  %v: Tensor[(16, 16, 3, 3), float32]) {
          let %h = tanh(nn.conv2d(%x, %w, padding=[1, 1, 1, 1]));
          sum(tanh(nn.conv2d(%h, %v, padding=[1, 1, 1, 1])))
        }""",
    "recurrence": """
        def @step(%x: Tensor[(4, 16), float32], %h: Tensor[(4, 32), float32],
                  %w: Tensor[(32, 16), float32], %u: Tensor[(32, 32), float32]) {
          let %i = sigmoid(add(nn.dense(%x, %w), nn.dense(%h, %u)));
          add(multiply(%i, tanh(%h)), subtract(1f, %i))
        }
        def @main(%x: Tensor[(4, 16), float32], %h: Tensor[(4, 32), float32],
                  %w: Tensor[(32, 16), float32], %u: Tensor[(32, 32), float32]) {
          sum(@step(%x, @step(%x, @step(%x, %h, %w, %u), %w, %u), %w, %u))
        }""",
    "attention": """
        def @main(%x: Tensor[(2, 32, 16), float32], %k: Tensor[(2, 16, 32), float32],
                  %v: Tensor[(2, 32, 16), float32]) {
          sum(tanh(nn.batch_matmul(nn.softmax(nn.batch_matmul(%x, %k)), %v)))
        }""",
}


def products(module: IRModule) -> int:
    """The multiply-adds of a program, optimised as far as it is plain operators."""
    count = get_total_mac_number(infer_type(Sequential(BEFORE_RULES)(module)))
    assert isinstance(count, int)
    return count


def tangent_alone(module: IRModule) -> IRModule:
    """A program of forward mode without its value."""
    main = infer_type(module)["main"]
    return module.with_function("main", relay.Function(main.params, relay.TupleGetItem(main.body, 1)))


@pytest.mark.parametrize("title", NETWORKS)
def test_multiply_adds(title):
    module = parsed(NETWORKS[title])
    once = products(module)
    assert products(relay.value_and_grad(module)) <= 3 * once
    assert products(relay.jvp(module, wrt="x")) <= 2 * once
    assert products(relay.jvp(module)) <= 3 * once


@pytest.mark.parametrize("title", NETWORKS)
def test_multiply_adds_of_hessian_vector_products(title):
    gradient = relay.grad(parsed(NETWORKS[title]))
    assert 3 * products(tangent_alone(relay.jvp(gradient))) <= 8 * products(gradient)


def deep(depth: int) -> IRModule:
    """Each value is read twice."""
    steps = "".join(f"let %x{at + 1} = multiply(%x{at}, sigmoid(%x{at}));\n" for at in range(depth))
    return parsed(f"def @main(%x0: Tensor[(8,), float32]) {{ {steps} sum(%x{depth}) }}")


def test_a_gradient_compiles_in_five_times_what_the_program_takes(tmp_path):
    """It has four times the operators, and is derived. In a process of its own: here all programs are verified."""
    code = """
import os, sys
import relay
from tests.autodiff.test_counts import deep
from tests.growth import calls
ways = (lambda module: module), relay.grad
def compiled(way, kept):
    os.environ["RELAY_CACHE_DIR"] = f"{sys.argv[1]}/{kept}"
    return calls(lambda: relay.build(way(deep(200))))
_, _, program, gradient = (compiled(way, at) for at, way in enumerate(ways + ways))  # at first modules are loaded
sys.exit(f"{gradient} calls, and {program}" if gradient > 5 * program else 0)
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, cwd=Path(__file__).parents[2])


def test_hessian_vector_products_of_deep_programs_are_derived_and_compiled_in_linear_time():
    assert is_linear(lambda depth: relay.build(relay.jvp(relay.grad(deep(depth), wrt=0))), 25)
