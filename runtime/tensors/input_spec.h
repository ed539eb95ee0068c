// What follows `-i` of `tapc run`:
//
//   X=@x.npy               a file's tensor            X=@all.npz:entry     one of an archive's (default: the entry X, or
//   @all.safetensors       every entry, by name                            the sole entry)
//   W=rand:42              generated, of the declared type and shape
//   W=f32[4, 8]=rand:42    the same with an explicit type and shape, if the program leaves them open
//   B=[[1, 2], [3, 4]]     written out                S=3.5
//
// Generators: zeros, ones, iota (0, 1, 2, … in row-major order), const:3.5, rand:SEED, randn:SEED (see generate.h).
// Parsing touches no file; materialise does.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/tensors/generate.h"
#include "runtime/tensors/literal.h"
#include "runtime/tensors/tensor_file.h"
#include "runtime/tensors/tensor_part.h"
#include "support/tensor.h"

namespace tap {

struct FileValue {
  std::string path;
  std::string entry;  // of an archive; empty if not given
  bool operator==(const FileValue&) const = default;
};

struct TypedShape {
  ElementType type;
  Shape shape;
  bool operator==(const TypedShape&) const = default;
};

struct InputSpec {
  std::string text;               // as the user wrote it, for messages
  std::string role = "input";     // the input `X`, or the result `Y` that --expect compares
  std::string name;               // empty: every entry of the file, by name
  std::optional<TypedShape> own;  // `f32[4, 8]`
  std::variant<FileValue, Maker, Literal> value;
  bool elsewhere = false;  // another process has the cells; `own` is their type
};

// Throws Failure, exit 2, which shows what was expected.
InputSpec parse_input_spec(std::string_view text);
// The same if only shapes are needed: `X=f32[4, 8]` needs no value.
InputSpec parse_shape_spec(std::string_view text);

// The shape if it is known without the program: of a file's tensor, of a literal, or as written. Throws Failure, exit
// 3, for a file that cannot be read.
std::optional<Shape> own_shape(const InputSpec& spec, TensorFiles& files);

// Of a file's tensor. Pre: the spec has a file. Throws Failure as above.
TypedShape type_in_file(const InputSpec& spec, TensorFiles& files);

// One spec per entry for a spec without a name, else the spec itself.
std::vector<InputSpec> expand(const InputSpec& spec, TensorFiles& files);

// The tensor. `shape` is the declared one if it is known; without it the spec must have its own.
// Throws Failure: wrong type or shape (exit 3), a value that the type cannot represent (exit 2), out of memory.
// With `part`, which needs `shape`: only this box of it. Data that a mapped file has as a tensor has it, and generated
// values, are read or made for the box only.
Tensor materialise(const InputSpec& spec, ElementType type, const std::optional<Shape>& shape, TensorFiles& files,
                   const TensorPart* part = nullptr);

// The expanded specs in the order of the program's inputs. Throws Failure, exit 3, which lists the expected inputs, if
// one is missing, given twice or unknown. `declared` has descriptions for the list: {"X", "X: f32[2, n]"}.
struct DeclaredInput {
  std::string name, description;
};
std::vector<InputSpec> match_inputs(const std::vector<InputSpec>& specs, const std::vector<DeclaredInput>& declared);

}  // namespace tap
