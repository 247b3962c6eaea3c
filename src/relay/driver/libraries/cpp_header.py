"""The C++ header of an exported program: a function with a parameter for each input, errors, and owners of memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from relay.base.dtypes import DType
from relay.base.names.fresh_names import FreshNames
from relay.driver.libraries.c_header import comment, statuses
from relay.runtime.artefact.manifest import EntrySpec, HeapResult, Manifest, TensorSpec
from relay.runtime.artefact.nesting import shown_result

_C_TYPES: Mapping[DType, str] = MappingProxyType({
    DType.FLOAT32: "float", DType.FLOAT64: "double", DType.BOOL: "bool",
    DType.INT8: "int8_t", DType.INT16: "int16_t", DType.INT32: "int32_t", DType.INT64: "int64_t",
    DType.UINT8: "uint8_t", DType.UINT16: "uint16_t", DType.UINT32: "uint32_t", DType.UINT64: "uint64_t",
})  # fmt: skip
"""Elements of other types are integers that hold their bits."""

_TAKEN = frozenset(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class
    compl concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype
    default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline
    int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
    reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template
    this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t
    while xor xor_eq arena buffers symbols status result error value run std
    """.split()  # noqa: SIM905  # a list of strings would take ninety lines
)
"""No parameter has the name of a word of C++, nor of what `run` uses itself."""


def cpp_header(manifest: Manifest, library: str, name: str) -> str:
    """The header of the file `library`, in the namespace `name`; it includes the one for C."""
    entry = manifest.entry("main")
    on_heap = isinstance(entry.result, HeapResult)
    guard = f"{name.upper()}_HPP"
    return f"""/* {comment(library)} from C++11: `{name}::run` throws where `{name}_run` gives a status. */
#ifndef {guard}
#define {guard}

#include <cstdint>
#include <initializer_list>
#include <stdexcept>

#include "{Path(library).stem}.h"

namespace {name} {{

/* A run that did not succeed. */
class error : public std::runtime_error {{
public:
    explicit error(std::int32_t status) : std::runtime_error(message(status)), status(status) {{}}
    const std::int32_t status;

private:
    static const char *message(std::int32_t status) {{
        switch (status) {{
{"".join(_cases(manifest))}        default: return "the run failed";
        }}
    }}
}};

{_VALUES.replace("NAME", name) if on_heap else ""}{_run(entry, name, on_heap)}
}}  // namespace {name}

#endif
"""


_VALUES = """/* A tensor, a tuple, or one of a data type. It lives as long as the arena that owns it. */
class value {
public:
    value(NAME_value raw = nullptr) : raw_(raw) {}
    NAME_value raw() const { return raw_; }
    std::int32_t kind() const { return NAME_kind(raw_); }
    value operator[](std::int32_t position) const { return NAME_field(raw_, position); }
    template <typename Element> const Element *data() const { return static_cast<const Element *>(NAME_data(raw_)); }
    const std::int64_t *extents() const { return NAME_extents(raw_); }

private:
    NAME_value raw_;
};

/* Owns values; used by one thread at a time. */
class arena {
public:
    arena() : raw_(NAME_arena_new()) {
        if (raw_ == nullptr) throw error(-1);
    }
    arena(arena &&other) noexcept : raw_(other.raw_) { other.raw_ = nullptr; }
    arena(const arena &) = delete;
    arena &operator=(arena other) noexcept {
        NAME_arena *mine = raw_;
        raw_ = other.raw_;
        other.raw_ = mine;
        return *this;
    }
    ~arena() { NAME_arena_free(raw_); }
    NAME_arena *raw() const { return raw_; }

    /* A tensor that uses `data`, which must live as long as the arena. */
    value tensor(std::int32_t kind, const void *data, std::initializer_list<std::int64_t> extents = {}) {
        return made(NAME_tensor(raw_, kind, data, static_cast<std::int32_t>(extents.size()), extents.begin()));
    }
    /* A tuple, or a value of a data type. */
    value cell(std::int32_t kind, std::initializer_list<value> fields = {}) {
        static_assert(sizeof(value) == sizeof(NAME_value), "a value is its address");
        const NAME_value *raw = reinterpret_cast<const NAME_value *>(fields.begin());
        return made(NAME_cell(raw_, kind, static_cast<std::int32_t>(fields.size()), raw));
    }

private:
    static value made(NAME_value raw) {
        if (raw == nullptr) throw error(-1);
        return raw;
    }
    NAME_arena *raw_;
};

"""


def _run(entry: EntrySpec, name: str, on_heap: bool) -> str:
    """The function, with its types."""
    names = FreshNames(_TAKEN.__contains__)
    outputs = () if on_heap else entry.outputs
    written = {each.input for each in entry.donations}
    parameters = ["arena &arena"] if on_heap else []
    buffers: list[str] = []
    for position, spec in enumerate((*entry.inputs, *outputs)):
        word = names.take(_word(spec.name))
        is_const = position < len(entry.inputs) and position not in written
        if isinstance(spec, TensorSpec):
            type_ = f"{c_type(spec.dtype)} *"
            parameters.append(f"const {type_}{word}" if is_const else f"{type_}{word}")
            buffers.append(f"const_cast<{type_}>({word})" if is_const else word)
        else:
            parameters.append(f"value {word}")
            buffers.append(f"{word}.raw()")
    symbols = [names.take(_word(each.name)) for each in entry.symbols]
    parameters += [f"std::int64_t {each}" for each in symbols]
    told = ", ".join(str(each) for each in (*entry.inputs, *outputs))
    result = f" Gives {comment(shown_result(entry))}." if on_heap else ""
    lines = [
        f"/* {comment(told)}.{result} Throws `error`. */",
        f"inline {'value' if on_heap else 'void'} run({', '.join(parameters)}) {{",
        f"    void *buffers[] = {{{', '.join(buffers) or 'nullptr'}}};",
        f"    const std::int64_t symbols[] = {{{', '.join(symbols) or '0'}}};",
    ]
    if on_heap:
        lines += [
            f"    {name}_value result = nullptr;",
            f"    const std::int32_t status = {name}_run(arena.raw(), buffers, symbols, &result);",
        ]
    else:
        lines.append(f"    const std::int32_t status = {name}_run(buffers, symbols);")
    lines.append("    if (status != 0) throw error(status);")
    return "\n".join([*lines, *["    return result;"] * on_heap, "}", ""])


def c_type(dtype: DType) -> str:
    """An element in C.

    >>> c_type(DType.FLOAT32), c_type(DType.BFLOAT16)
    ('float', 'uint16_t')
    """
    return _C_TYPES.get(dtype, f"uint{8 * dtype.item_bytes}_t")


def _cases(manifest: Manifest) -> Iterator[str]:
    for status, told in statuses(manifest):
        if status:
            text = told.replace('"', "'").replace("?", "\\?")
            yield f'        case {status}: return "{text}";\n'


def _word(name: str) -> str:
    """A name as one of C++."""
    word = "".join(each if each.isascii() and (each.isalnum() or each == "_") else "_" for each in name)
    return word if word[:1].isalpha() else f"x{word}"
