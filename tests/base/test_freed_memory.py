"""What a function freed is the system's again, though something that it gave lies behind it in memory."""

from tests.driver.processes import python

SCRIPT = """
import sys
from pathlib import Path
import numpy as np
from relay.base.freed_memory import gives_back_memory

def resident_mb():
    (line,) = (each for each in Path("/proc/self/status").read_text().splitlines() if each.startswith("VmRSS:"))
    return float(line.split()[1]) / 1024

def compute():
    values = [np.ones(12_500) for _ in range(1000)]  # 100 MB in pieces that malloc has in its heap
    return np.ones(12_000)

before = resident_mb()
kept = (gives_back_memory(compute) if sys.argv[1] == "given back" else compute)()
print(resident_mb() - before)
"""


def test_what_was_freed_is_given_back():
    assert float(python(SCRIPT, "given back")) < 5


def test_the_allocator_does_not_give_it_back_by_itself():
    assert float(python(SCRIPT, "kept")) > 50
