"""ELF object files: their symbols renamed, and an object made of plain data.

The layout is that of the System V ABI, 64 bits, little endian: `Elf64_Ehdr`, `Elf64_Shdr` and `Elf64_Sym`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

from relay.base.frozen import frozen

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_MAGIC = b"\x7fELF\x02\x01"
_PROGBITS, _SYMBOL_TABLE, _STRING_TABLE = 1, 2, 3
_ALLOCATED = 2
_RELOCATABLE = 1
_LOCAL, _GLOBAL, _OBJECT_TYPE = 0, 1, 1
_DEFAULT, _HIDDEN = 0, 2
_UNDEFINED = 0
_DATA_ALIGNMENT_BYTES = 64


@frozen
class _Symbol:
    """An entry of a symbol table: where it stands in the file, its name, and what it says."""

    offset: int
    name: str
    fields: tuple[int, ...]  # name, binding and type, visibility, section, value, size

    @property
    def is_local(self) -> bool:
        return self.fields[1] >> 4 == _LOCAL

    @property
    def is_defined(self) -> bool:
        return self.fields[3] != _UNDEFINED


@frozen(eq=False)
class ElfObject:
    """An object file. Raises ValueError where it is none, or is cut short."""

    image: bytes

    def defined(self) -> set[str]:
        """The names that other objects can refer to."""
        return {each.name for each in self._symbols() if each.is_defined and not each.is_local}

    def renamed(self, names: Mapping[str, str], exported: frozenset[str]) -> bytes:
        """The object whose symbols have these new names, wherever it defines or uses them. Those that are not
        `exported` (by their new names) are hidden: no shared library shows them."""
        image = bytearray(self.image)
        header, texts = self._string_table()
        strings = bytearray(texts)
        for symbol in self._symbols():
            if symbol.is_local or symbol.name not in names:
                continue
            name = names[symbol.name]
            _, info, _, *place = symbol.fields
            visibility = _DEFAULT if name in exported else _HIDDEN
            _SYMBOL.pack_into(image, symbol.offset, len(strings), info, visibility, *place)
            strings += name.encode() + b"\0"
        offset, fields = header
        name_of_section, kind, flags, address, _, _, *rest = fields
        _SECTION.pack_into(image, offset, name_of_section, kind, flags, address, len(image), len(strings), *rest)
        return bytes(image + strings)

    def _sections(self) -> list[tuple[int, tuple[int, ...]]]:
        """Where each header of a section stands, and what it says."""
        if len(self.image) < _HEADER.size or self.image[: len(_MAGIC)] != _MAGIC:
            raise ValueError("this is no object file of ELF with 64 bits")
        table, size, count = (_HEADER.unpack_from(self.image)[each] for each in (6, 11, 12))
        if table + size * count > len(self.image) or size != _SECTION.size:
            raise ValueError("the table of sections is cut short")
        return [(table + size * each, _SECTION.unpack_from(self.image, table + size * each)) for each in range(count)]

    def _symbol_table(self) -> tuple[int, ...]:
        found = [fields for _, fields in self._sections() if fields[1] == _SYMBOL_TABLE]
        if not found:
            raise ValueError("there is no table of symbols")
        return found[0]

    def _string_table(self) -> tuple[tuple[int, tuple[int, ...]], bytes]:
        """The section of the names of symbols, and what is in it."""
        header = self._sections()[self._symbol_table()[6]]
        start, size = header[1][4:6]
        return header, self.image[start : start + size]

    def _symbols(self) -> Iterator[_Symbol]:
        _, strings = self._string_table()
        start, size = self._symbol_table()[4:6]
        for offset in range(start, start + size, _SYMBOL.size):
            fields = _SYMBOL.unpack_from(self.image, offset)
            yield _Symbol(offset, strings[fields[0] : strings.index(b"\0", fields[0])].decode(), fields)


def write_data_object(path: Path, data: Mapping[str, bytes], like: bytes) -> None:
    """Write an object with bytes by the hidden symbols under which they are found, read-only, at multiples of 64 bytes;
    for the machine of the object `like`."""
    places: list[int] = []
    end = 0
    for content in data.values():
        places.append(end)
        end += len(content) + -len(content) % _DATA_ALIGNMENT_BYTES
    strings = b"\0" + b"".join(name.encode() + b"\0" for name in (*data, ".rodata", ".note.GNU-stack", ".symtab"))
    strings += b".strtab\0"

    def named(name: str) -> int:
        return strings.index(b"\0" + name.encode() + b"\0") + 1

    symbols = bytes(_SYMBOL.size) + b"".join(
        _SYMBOL.pack(named(name), _GLOBAL << 4 | _OBJECT_TYPE, _HIDDEN, 1, place, len(content))
        for (name, content), place in zip(data.items(), places, strict=True)
    )
    begin = _DATA_ALIGNMENT_BYTES  # of the data: right after the header
    tables = begin + end
    sections = (
        bytes(_SECTION.size)
        + _SECTION.pack(named(".rodata"), _PROGBITS, _ALLOCATED, 0, begin, end, 0, 0, _DATA_ALIGNMENT_BYTES, 0)
        + _SECTION.pack(named(".note.GNU-stack"), _PROGBITS, 0, 0, tables, 0, 0, 0, 1, 0)
        + _SECTION.pack(named(".symtab"), _SYMBOL_TABLE, 0, 0, tables, len(symbols), 4, 1, 8, _SYMBOL.size)
        + _SECTION.pack(named(".strtab"), _STRING_TABLE, 0, 0, tables + len(symbols), len(strings), 0, 0, 1, 0)
    )
    after = tables + len(symbols) + len(strings)
    padding = bytes(-after % 8)
    identity, _, machine, version, *_, flags, _, _, _, _, _, _ = _HEADER.unpack_from(like)
    head = _HEADER.pack(
        identity,
        _RELOCATABLE,
        machine,
        version,
        0,
        0,
        after + len(padding),
        flags,
        _HEADER.size,
        0,
        0,
        _SECTION.size,
        5,
        4,
    )
    with path.open("wb") as file:
        file.write(head)
        for content in data.values():
            file.write(content)
            file.write(bytes(-len(content) % _DATA_ALIGNMENT_BYTES))
        file.writelines((symbols, strings, padding, sections))
