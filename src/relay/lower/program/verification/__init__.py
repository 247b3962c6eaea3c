"""The rules of the program form, checked after lowering."""
