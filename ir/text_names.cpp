#include "ir/text_names.h"

#include <unordered_map>

#include <algorithm>

#include <fmt/format.h>

#include "ir/graph.h"

namespace tap::ir {
namespace {

// Not <cctype>: that depends on the locale.
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

std::string numbered(const std::vector<std::string>& own, std::size_t k, std::size_t count, std::string_view fallback) {
  if (k < own.size() && !own[k].empty()) return own[k];
  return count == 1 ? std::string(fallback) : fmt::format("{}{}", fallback, k);
}

}  // namespace

bool is_identifier(std::string_view name) {
  return !name.empty() && is_letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') result += fmt::format("\\{}", c);
    else if (c == '\n') result += "\\n";
    else if (byte < 0x20 || byte == 0x7f) result += fmt::format("\\x{:02x}", byte);
    else result += c;
  }
  return result + "\"";
}

// `_` alone marks something missing.
std::string written_name(const std::string& name) { return is_identifier(name) && name != "_" ? name : quoted(name); }

std::vector<std::string> variable_names(const Operator& op) {
  std::unordered_map<std::string, int> count;
  for (const IndexDim& dim : op.dims) ++count[dim.name];
  std::vector<std::string> names;
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    const std::string& name = op.dims[d].name;
    names.push_back(is_identifier(name) && count[name] == 1 ? name : fmt::format("#{}", d));
  }
  return names;
}

std::string operand_name(const Operator& op, std::size_t operand) {
  return numbered(op.operand_names, operand, op.operands.size(), "x");
}
std::string result_name(const Operator& op, std::size_t result) {
  return numbered(op.result_names, result, op.results.size(), "y");
}

std::vector<std::string> value_names(const Graph& graph) {
  struct Uses {
    int count = 0, seen = 0;
  };
  std::unordered_map<std::string_view, Uses> of_name;
  of_name.reserve(graph.values.size());
  std::vector<Uses*> uses;
  uses.reserve(graph.values.size());
  for (const Value& value : graph.values) ++uses.emplace_back(&of_name[value.name])->count;
  std::vector<std::string> names;
  names.reserve(graph.values.size());
  for (std::size_t v = 0; v < uses.size(); ++v) {
    const std::string& name = graph.values[v].name;
    if (!name.empty() && uses[v]->count == 1) names.push_back(name);
    else names.push_back(name + "#" + std::to_string(++uses[v]->seen));
  }
  return names;
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    if (k) text += separator;
    text += parts[k];
  }
  return text;
}

}  // namespace tap::ir
