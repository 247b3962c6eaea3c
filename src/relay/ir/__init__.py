"""The language: types, expressions, modules, attributes, operator declarations, and what is asked of programs."""
