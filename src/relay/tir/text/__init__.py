"""The text of PrimFuncs, written and read back. Importing this folder gives them their `str`."""

from relay.tir.stmt import PrimFunc
from relay.tir.text.printer import print_primfunc

PrimFunc.printer = print_primfunc
