"""Branches, loops as recursion, walks over lists and sequences: programs that importers write with control flow."""
