"""Damaged and hostile inputs of all formats: each is read as what it says, or refused by a `RelayError`.

`python -m tests.endurance.mutated [count] [--seed seed] [--state file]` reads so many. An input that ends the process,
or takes a minute, ends the campaign: the last line names its trial. The suite runs a slice of it.
"""

from __future__ import annotations

import faulthandler
import re
import tempfile
from pathlib import Path

import numpy as np

from relay.base.diagnostics import RelayError
from tests.endurance import slices
from tests.endurance.formats import formats

LONGEST_SECONDS = 60
MOST_CHANGES = 4
UNLIKELY = (
    b"0", b"-1", b"99999999999999999999", b"1e999", b"nan", b'"', b"(" * 50, b"\xff\xfe", b"\x00", b"?", b"--",
    b"[" * 5000, b'{"":' * 5000,
)  # fmt: skip

NUMBER = re.compile(rb"\d+")
NUMBERS = (
    b"0", b"1", b"2", b"3", b"4", b"7", b"12", b"255", b"65536", b"2147483648", b"4294967296", b"9223372036854775807",
)  # fmt: skip


class Mutated:
    """Samples of each format, and a file to put what is made of them."""

    def __init__(self, folder: Path) -> None:
        self._formats = formats(folder)
        self._path = folder / "input"
        for each in self._formats:
            self._path.write_bytes(each.content)
            each.read(self._path)

    def trial(self, random: np.random.Generator) -> str:
        """Read one; an error that is none of the user's says what was read."""
        chosen = self._formats[int(random.integers(len(self._formats)))]
        content = chosen.content
        for _ in range(int(random.integers(1, MOST_CHANGES + 1, 2).min())):
            content = changed(content, random)
        self._path.write_bytes(content)
        faulthandler.dump_traceback_later(LONGEST_SECONDS, exit=True)
        try:
            chosen.read(self._path)
        except RelayError:
            return "refused"
        except Exception as error:
            error.add_note(f"{chosen.name}: {content!r}")
            raise
        finally:
            faulthandler.cancel_dump_traceback_later()
        return "read"


def changed(content: bytes, random: np.random.Generator) -> bytes:
    """One change: of a byte, a bit or a number, of a stretch that is cut out, doubled or moved, of what is not
    expected."""
    at, length = int(random.integers(len(content) + 1)), int(random.integers(1, 40))
    before, part, after = content[:at], content[at : at + length], content[at + length :]
    match int(random.integers(9)):
        case 0:
            return before + random.bytes(1) + content[at + 1 :]
        case 1:
            flipped = bytes([byte ^ (1 << int(random.integers(8))) for byte in content[at : at + 1]])
            return before + flipped + content[at + 1 :]
        case 2:
            return before + after
        case 3:
            return before + part + part + after
        case 4:
            return before
        case 5:
            place = int(random.integers(len(after) + 1))
            return before + after[:place] + part + after[place:]
        case 6:
            other = int(random.integers(len(content) + 1))
            return before + content[other : other + 1] + content[at + 1 :]
        case 7:
            numbers = list(NUMBER.finditer(content))
            if not numbers:
                return content
            start, end = numbers[int(random.integers(len(numbers)))].span()
            return content[:start] + NUMBERS[int(random.integers(len(NUMBERS)))] + content[end:]
        case _:
            return before + UNLIKELY[int(random.integers(len(UNLIKELY)))] + content[at:]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        slices.run("Read damaged inputs.", Mutated(Path(folder)).trial, 100_000)


if __name__ == "__main__":
    main()
