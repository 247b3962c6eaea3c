"""The typing of each form of the language, one walk over them."""
