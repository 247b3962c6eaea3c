"""The same program with fewer or cheaper operators."""
