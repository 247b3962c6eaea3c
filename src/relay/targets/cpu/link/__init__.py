"""Object files to what programs in C link with: a shared library, one object, or an archive."""
