#include "backend/loops/loops_words.h"

#include <algorithm>
#include <array>

namespace tap::backend {

const std::vector<Statement>* body_of(const Statement& statement) {
  if (const auto* loop = std::get_if<For>(&statement.node)) return &loop->body;
  if (const auto* guard = std::get_if<Guard>(&statement.node)) return &guard->body;
  if (const auto* section = std::get_if<Section>(&statement.node)) return &section->body;
  return nullptr;
}

namespace {
void find_definitions(const std::vector<Statement>& body, std::vector<std::uint32_t>& found) {
  for (const Statement& statement : body) {
    if (const auto* let = std::get_if<Let>(&statement.node)) found.push_back(let->variable);
    if (const auto* define = std::get_if<Define>(&statement.node)) found.push_back(define->variable);
    if (const auto* loop = std::get_if<For>(&statement.node)) found.push_back(loop->variable);
    if (const auto* inner = body_of(statement)) find_definitions(*inner, found);
  }
}
}  // namespace

std::vector<std::uint32_t> variables_defined(const Kernel& kernel) {
  std::vector<std::uint32_t> found;
  find_definitions(kernel.body, found);
  return found;
}

bool is_reserved(std::string_view name) {
  constexpr std::array<std::string_view, 31> words = {
      "kernel", "over", "cut",  "worth", "exact",  "unused", "local", "holds", "at", "section", "from",
      "for",    "in",   "step", "down",  "unroll", "lanes",  "fetch", "of",    "if", "then",    "else",
      "let",    "fold", "by",   "true",  "false",  "ceil",   "floor", "max",   "min"};
  if (std::find(words.begin(), words.end(), name) != words.end()) return true;
  for (std::size_t k = 0; k < ir::cell_op_count; ++k)
    if (ir::info(static_cast<ir::CellOp>(k)).spelling == name) return true;
  if (element_type_named(name)) return true;
  if (name.starts_with("inf") || name.starts_with("nan")) return true;
  return is_accumulator(name);
}

bool is_accumulator(std::string_view name) {
  auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return name.starts_with("acc") && name.size() > 3 && std::all_of(name.begin() + 3, name.end(), is_digit);
}

SectionDims box_dims(const Kernel& kernel) {
  SectionDims dims;
  for (std::size_t d = 0; d < kernel.dims; ++d) {
    dims.lo.push_back(kernel.lo(d));
    dims.at.push_back(kernel.at(d));
  }
  for (std::uint32_t t = 0; t < kernel.operands; ++t) dims.operands.push_back(t);
  return dims;
}

}  // namespace tap::backend
