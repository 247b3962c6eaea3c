"""The loop language: values, statements, buffers, functions; its text, verifier, interpreter and passes."""
