"""Is a PrimFunc sound? What the verifier checks, a part a file."""
