#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/driver/bindings/library_files.h"
#include "ir/graph.h"
#include "support/memory_failure.h"

namespace tap::driver {
namespace {

// A Python string literal in ASCII: JSON's escapes are valid in Python.
std::string python_text(const std::string& text) {
  AllocationMustSucceed memory_guard;
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::string tuple(const std::vector<backend::ProgramTensor>& tensors, std::optional<bool> constants) {
  std::string out = "(";
  for (const backend::ProgramTensor& t : tensors) {
    if (constants && t.constant != *constants) continue;
    out += fmt::format("({}, \"{}\", ({})), ", python_text(t.name), name_of(t.type.element),
                       fmt::format("{}{}", fmt::join(t.type.shape, ", "), t.type.shape.empty() ? "" : ","));
  }
  return out + ")";
}

constexpr std::string_view body = R"PY(
import ctypes
import os

import numpy

# NumPy has no bfloat16: its cells are passed as their bits.
_TYPES = {"f64": "f8", "f32": "f4", "f16": "f2", "bf16": "u2", "i64": "i8", "i32": "i4", "i16": "i2", "i8": "i1", "u8": "u1", "bool": "?"}


class Error(RuntimeError):
    """An error of the library; `status` is its number."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("strides", ctypes.POINTER(ctypes.c_int64))]


class _Options(ctypes.Structure):
    _fields_ = [("threads", ctypes.c_int64), ("kernels", ctypes.POINTER(ctypes.c_void_p))]


def _load():
    library = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), _FILE))
    functions = {}
    for word, result, arguments in (
            ("abi_version", ctypes.c_int32, []),
            ("prepare", ctypes.c_int32, [ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(_Tensor), ctypes.POINTER(_Options)]),
            ("run", ctypes.c_int32, [ctypes.c_void_p, ctypes.POINTER(_Tensor), ctypes.POINTER(_Tensor)]),
            ("message", ctypes.c_size_t, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]),
            ("release", None, [ctypes.c_void_p])):
        functions[word] = getattr(library, _PREFIX + "_" + word)
        functions[word].restype, functions[word].argtypes = result, arguments
    if functions["abi_version"]() != 1:
        raise Error(4, "the library has a different ABI version")
    return functions


def _numbers(value, name, element):
    """Converts Python numbers that the program's type can hold. Arrays with a type are not converted."""
    given = numpy.asarray(value)
    wanted = numpy.dtype(_TYPES[element])
    if given.size > 0 and given.dtype.kind not in {"f": "fiub", "i": "iub", "u": "iub", "b": "b"}[wanted.kind]:
        raise TypeError(f"{name} has type {given.dtype}, expected {element}")
    with numpy.errstate(all="ignore"):
        made = given.astype(wanted)
    if wanted.kind in "iu" and (made != given).any():
        raise OverflowError(f"{name} has a number that {element} cannot hold")
    return made


def _array(value, name, element, shape):
    """A NumPy array that shares memory with a DLPack tensor."""
    if not isinstance(value, numpy.ndarray):
        value = (numpy.from_dlpack(value) if hasattr(value, "__dlpack__") else
                 numpy.asarray(value) if hasattr(value, "dtype") else _numbers(value, name, element))
    if value.dtype != numpy.dtype(_TYPES[element]):
        raise TypeError(f"{name} has type {value.dtype}, expected {element}")
    if value.shape != shape:
        raise ValueError(f"{name} has shape {value.shape}, expected {shape}")
    return value


def _in_elements(array):
    """Whether all strides are multiples of the element size; a field of a structured array may have others."""
    return all(stride % array.itemsize == 0 for stride, extent in zip(array.strides, array.shape) if extent > 1)


def _readable(array, _):
    return array if _in_elements(array) else array.copy()


def _writable(array, name):
    if not _in_elements(array):
        raise ValueError(f"{name} has strides that are not multiples of the element size: {array.strides} bytes")
    return array


def _strides(array):
    return (ctypes.c_int64 * max(array.ndim, 1))(*(s // array.itemsize for s in array.strides))


def _pass(arrays):
    """The C structs of the arrays; the arrays must outlive them."""
    strides = [_strides(a) for a in arrays]
    return (_Tensor * max(len(arrays), 1))(*(_Tensor(a.ctypes.data, s) for a, s in zip(arrays, strides))), strides


def _collect(given, named, wanted, usable=_readable):
    if len(given) > len(wanted):
        raise TypeError(f"{len(given)} tensors given, expected {len(wanted)}")
    values = dict(zip((name for name, _, _ in wanted), given))
    for name, value in named.items():
        if name in values or all(name != n for n, _, _ in wanted):
            raise TypeError(f"{name} is unknown or given twice; expected {', '.join(n for n, _, _ in wanted)}")
        values[name] = value
    missing = [n for n, _, _ in wanted if n not in values]
    if missing:
        raise TypeError(f"missing: {', '.join(missing)}")
    return [usable(_array(values[name], name, element, shape), name) for name, element, shape in wanted]


def _place(array):
    """An array to write into. Before NumPy 2.1, every array from DLPack was read-only."""
    ours = isinstance(array, numpy.ndarray)
    if not ours and not hasattr(array, "__dlpack__"):
        raise TypeError(f"out: expected one array per result, got {array!r}")
    array = array if ours else numpy.from_dlpack(array)
    if not array.flags.writeable and (ours or tuple(map(int, numpy.__version__.split(".")[:2])) >= (2, 1)):
        raise ValueError("out: an array is read-only")
    return array


def _places(out):
    """The arrays that receive the results: one array, or a list with one per result."""
    out = out if isinstance(out, (list, tuple)) else [out]
    return _collect([_place(array) for array in out], {}, OUTPUTS, _writable)


class Program:
    """Prepared once with the constants, in order or by name; then called with the inputs, from any thread.

    A call returns the output, or a tuple of them. `kernels`: addresses of the outside kernels, in order.
    """

    def __init__(self, /, *constants, threads=1, kernels=(), **named):
        self._functions = _load()
        self._context = ctypes.c_void_p()
        if len(kernels) != OUTSIDE_KERNELS:
            raise TypeError(f"{len(kernels)} outside kernels given, expected {OUTSIDE_KERNELS}")
        addresses = (ctypes.c_void_p * max(len(kernels), 1))(*kernels)
        arrays = _collect(constants, named, CONSTANTS)
        tensors, _strides_kept = _pass(arrays)
        options = _Options(threads, addresses if len(kernels) > 0 else None)
        self._check(self._functions["prepare"](ctypes.byref(self._context), tensors, ctypes.byref(options)))

    def __call__(self, /, *inputs, out=None, **named):
        if not self._context:
            raise Error(4, "the program is closed")
        arrays = _collect(inputs, named, INPUTS)
        out = [numpy.empty(shape, _TYPES[element]) for _, element, shape in OUTPUTS] if out is None else _places(out)
        tensors, _kept = _pass(arrays)
        results, _kept_too = _pass(out)
        self._check(self._functions["run"](self._context, tensors, results))
        return out[0] if len(out) == 1 else tuple(out)

    def close(self):
        if self._context:
            self._functions["release"](self._context)
            self._context = ctypes.c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_context", None):
            self.close()

    def _check(self, status):
        if status == 0:
            return
        text = ctypes.create_string_buffer(4096)
        if self._context:
            self._functions["message"](self._context, text, len(text))
        raise Error(status, text.value.decode(errors="replace") or f"status {status}")
)PY";

}  // namespace

std::string python_module(const LibraryFacts& facts) {
  const backend::Schedule& s = *facts.schedule;
  return fmt::format(
             "\"\"\"A program compiled by tapc: Program(constants…)(inputs…) with NumPy arrays or DLPack "
             "tensors.\"\"\"\n\n_FILE = {}\n_PREFIX = {}\nCONSTANTS = {}\nINPUTS = {}\nOUTPUTS = {}\nOUTSIDE_KERNELS = "
             "{}\n",
             python_text(facts.file), python_text(facts.prefix), tuple(s.inputs, true), tuple(s.inputs, false),
             tuple(s.outputs, std::nullopt), s.outside.size()) +
         std::string(body.substr(1));
}

}  // namespace tap::driver
