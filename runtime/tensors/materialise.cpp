// From an input specification to the tensor.
#include <algorithm>

#include "runtime/failure.h"
#include "runtime/tensors/input_spec.h"
#include "runtime/tensors/npy_dtype.h"
#include "support/check.h"

namespace tap {
namespace {

std::string type_text(ElementType type, const std::optional<Shape>& shape) {
  return shape ? describe(type, *shape) : std::string(name_of(type));
}

std::string source_name(const InputSpec& spec) {
  return spec.name.empty() ? quoted(spec.text) : "the " + spec.role + " " + quoted(spec.name);
}

// x.astype('float32') to write the file with another type; none for types that NumPy lacks.
std::string help_to_convert(const InputSpec& spec, ElementType type) {
  std::string help = "tapc does not convert types: give " + std::string(name_of(type)) + " values";
  const char* name = npy_name_of(type);
  if (!std::holds_alternative<FileValue>(spec.value) || !name) return help;
  return help + "; in NumPy: x.astype('" + name + "')";
}

void require_declared(const InputSpec& spec, ElementType found, const Shape& found_shape, const std::string& source,
                      ElementType type, const std::optional<Shape>& shape) {
  std::string message = source_name(spec) + " is declared as " + type_text(type, shape) + ", but " + source +
                        " contains " + describe(found, found_shape);
  if (found != type) throw wrong_data(Code::data_type, message, help_to_convert(spec, type));
  if (shape && *shape != found_shape) throw wrong_data(Code::data_shape, message);
}

Tensor from_file(const InputSpec& spec, const FileValue& file, TensorFiles& files) {
  if (!is_archive(*format_of(file.path))) return files.load(file.path);
  std::string entry = file.entry;
  if (entry.empty()) {
    std::vector<std::string> all = files.entries(file.path);
    entry = all.size() == 1 ? all[0] : spec.name;
    if (std::find(all.begin(), all.end(), entry) == all.end()) {
      if (all.empty()) throw wrong_data(Code::data_missing, quoted(file.path) + " has no entries");
      std::string help = "write for example " + spec.name + "=@" + file.path + ":" + all[0];
      throw wrong_data(
          Code::data_missing,
          quoted(file.path) + " has " + plural(all.size(), "entry", "entries") + ", none of them " + quoted(spec.name),
          help);
    }
  }
  return files.load(file.path, entry);
}

Tensor from_maker(const InputSpec& spec, const Maker& maker, ElementType type, const std::optional<Shape>& shape,
                  const TensorPart* part) {
  if (!spec.own && !shape) {
    throw wrong_command(
        Code::data_spec, quoted(spec.text) + " gives no shape, and the program leaves it open",
        "write it with its type, for example " + spec.name + "=" + std::string(name_of(type)) + "[4, 8]=rand:42");
  }
  const Shape& whole = spec.own ? spec.own->shape : *shape;
  Tensor tensor = make_tensor(type, part ? part->shape : whole, source_name(spec));
  fill_part(tensor, part ? part->begin : Shape(whole.size(), 0), whole, maker, spec.text);
  return tensor;
}

Tensor from_literal(const InputSpec& spec, const Literal& literal, ElementType type) {
  Tensor tensor = make_tensor(type, literal.shape, source_name(spec));
  for (std::size_t i = 0; i < literal.elements.size(); ++i) {
    store(tensor, static_cast<std::int64_t>(i), literal.elements[i], spec.text);
  }
  return tensor;
}

}  // namespace

std::optional<Shape> own_shape(const InputSpec& spec, TensorFiles& files) {
  if (spec.own) return spec.own->shape;
  if (const auto* file = std::get_if<FileValue>(&spec.value)) return from_file(spec, *file, files).shape();
  if (const auto* literal = std::get_if<Literal>(&spec.value)) return literal->shape;
  return std::nullopt;
}

TypedShape type_in_file(const InputSpec& spec, TensorFiles& files) {
  const Tensor tensor = from_file(spec, std::get<FileValue>(spec.value), files);
  return {tensor.type(), tensor.shape()};
}

Tensor materialise(const InputSpec& spec, ElementType type, const std::optional<Shape>& shape, TensorFiles& files,
                   const TensorPart* part) {
  std::string source = quoted((spec.role == "input" ? "-i " : "--expect ") + spec.text);
  if (spec.own) require_declared(spec, spec.own->type, spec.own->shape, source, type, shape);
  if (const auto* file = std::get_if<FileValue>(&spec.value)) {
    Tensor tensor = from_file(spec, *file, files);
    std::string entry = file->entry.empty() ? "" : ":" + file->entry;
    require_declared(spec, tensor.type(), tensor.shape(), quoted(file->path + entry), type, shape);
    return part ? cut(tensor, *part) : tensor;
  }
  if (const auto* maker = std::get_if<Maker>(&spec.value)) return from_maker(spec, *maker, type, shape, part);
  const Literal& literal = std::get<Literal>(spec.value);
  std::optional<Shape> demanded = spec.own ? std::optional<Shape>(spec.own->shape) : shape;
  if (demanded && literal.shape != *demanded) {
    throw wrong_data(Code::data_shape,
                     source_name(spec) + " is declared as " + describe(type, *demanded) + ", but " + source +
                         " has shape " + to_string(literal.shape),
                     literal.shape.empty() ? "const:VALUE fills a whole tensor" : "");
  }
  Tensor tensor = from_literal(spec, literal, type);
  return part ? cut(tensor, *part) : tensor;
}

}  // namespace tap
