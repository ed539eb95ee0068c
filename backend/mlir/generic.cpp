#include "backend/mlir/generic.h"

#include <fmt/format.h>

#include "backend/mlir/arithmetic.h"

namespace tap::backend::mlir {
namespace {

// linalg infers the sizes of loops from axes that a loop indexes alone, so each needs one.
void show_sizes(Text& text, Generic& generic) {
  std::vector<bool> shown(generic.loops.size());
  for (const auto* tensors : {&generic.ins, &generic.outs})
    for (const GenericTensor& tensor : *tensors)
      for (const Row& row : tensor.rows)
        if (auto loop = row.loop()) shown[*loop] = true;
  for (std::size_t k = 0; k < generic.loops.size(); ++k) {
    if (shown[k]) continue;
    Row row{std::vector<std::int64_t>(generic.loops.size()), 0, {}, {}, {}};
    row.coefficients[k] = 1;
    const Shape shape{generic.loops[k]};
    generic.ins.push_back(
        {empty_tensor(text, ElementType::boolean, shape), ElementType::boolean, shape, {row}, "size"});
  }
}

std::string operands(const std::vector<GenericTensor>& tensors) {
  std::vector<std::string> values, types;
  for (const GenericTensor& tensor : tensors) {
    values.push_back(tensor.value);
    types.push_back(tensor_type(tensor.type, tensor.shape));
  }
  return joined(values) + " : " + joined(types);
}

std::string results_text(const std::vector<GenericTensor>& outs) {
  std::vector<std::string> types;
  for (const GenericTensor& out : outs) types.push_back(tensor_type(out.type, out.shape));
  return types.size() == 1 ? types.front() : "(" + joined(types) + ")";
}

void write_head(Text& text, const Generic& generic, const std::string& names) {
  std::vector<std::string> maps, kinds;
  for (const auto* tensors : {&generic.ins, &generic.outs})
    for (const GenericTensor& tensor : *tensors) maps.push_back(map_text(tensor.rows, generic.loops.size()));
  for (bool reduced : generic.reduced) kinds.emplace_back(reduced ? "\"reduction\"" : "\"parallel\"");
  text.line(names + " = linalg.generic {");
  text.line("  indexing_maps = [" + joined(maps, ",\n                     ") + "],");
  text.line("  iterator_types = [" + joined(kinds) + "]");
  text.line(fmt::format("}}{} outs({}) {{", generic.ins.empty() ? "" : " ins(" + operands(generic.ins) + ")",
                        operands(generic.outs)));
}

}  // namespace

std::vector<std::string> write_generic(Text& text, Generic generic, const BodyWriter& body) {
  show_sizes(text, generic);
  const std::string name = text.fresh("r");
  std::vector<std::string> results, arguments, types;
  for (std::size_t k = 0; k < generic.outs.size(); ++k) {
    results.push_back(generic.outs.size() == 1 ? name : fmt::format("{}#{}", name, k));
    types.emplace_back(type_name(generic.outs[k].type));
  }
  write_head(text, generic, generic.outs.size() == 1 ? name : fmt::format("{}:{}", name, generic.outs.size()));
  GenericBody inside;
  auto argument = [&](const GenericTensor& tensor, std::vector<std::string>& names) {
    names.push_back(text.fresh(tensor.hint));
    arguments.push_back(fmt::format("{}: {}", names.back(), type_name(tensor.type)));
  };
  for (const GenericTensor& in : generic.ins) argument(in, inside.ins);
  for (const GenericTensor& out : generic.outs) argument(out, inside.outs);
  text.line("^bb0(" + joined(arguments) + "):");
  text.in();
  for (std::size_t k = 0; k < generic.loops.size(); ++k) {
    const bool needed = k < generic.indices.size() && generic.indices[k];
    inside.indices.push_back(needed ? define(text, "d", fmt::format("linalg.index {} : index", k)) : "");
  }
  const std::vector<std::string> yielded = body(inside);
  text.line(fmt::format("linalg.yield {} : {}", joined(yielded), joined(types)));
  text.out();
  text.line("} -> " + results_text(generic.outs));
  return results;
}

std::string empty_tensor(Text& text, ElementType type, const Shape& shape) {
  return define(text, "e", "tensor.empty() : " + tensor_type(type, shape));
}

std::string filled_tensor(Text& text, const std::string& value, ElementType type, const Shape& shape) {
  const std::string empty = empty_tensor(text, type, shape);
  return define(text, "f",
                fmt::format("linalg.fill ins({} : {}) outs({} : {}) -> {}", value, type_name(type), empty,
                            tensor_type(type, shape), tensor_type(type, shape)));
}

}  // namespace tap::backend::mlir
