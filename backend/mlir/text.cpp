#include "backend/mlir/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace tap::backend::mlir {

void Text::line(std::string_view text) {
  text_.append(2 * depth_, ' ');
  text_ += text;
  text_ += '\n';
}

std::string Text::fresh(std::string_view hint) {
  std::string name = "%";
  for (char c : hint) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'), digit = c >= '0' && c <= '9';
    if (digit && name.size() == 1) name += '_';  // a name of digits alone would be a number
    name += letter || digit || c == '.' ? c : '_';
  }
  if (name.size() == 1) name += '_';
  std::string unique = name;
  for (int n = 2; !taken_.insert(unique).second; ++n) unique = fmt::format("{}_{}", name, n);
  return unique;
}

std::string_view type_name(ElementType type) {
  switch (type) {
    case ElementType::u8: return "i8";
    case ElementType::boolean: return "i1";
    default: return name_of(type);
  }
}

std::string tensor_type(ElementType type, const Shape& shape) {
  std::string text = "tensor<";
  for (std::int64_t size : shape) text += fmt::format("{}x", size);
  return text + std::string(type_name(type)) + ">";
}

std::string literal(const ir::Scalar& value) {
  if (is_bool(value.type)) return value.i != 0 ? "true" : "false";
  if (!is_float(value.type))
    return fmt::format("{} : {}", value.type == ElementType::u8 ? wrap(value.i, ElementType::i8) : value.i,
                       type_name(value.type));
  const ElementType type = compute_type(value.type);
  std::string text = fmt::format("{}", value.f);
  if (!std::isfinite(value.f))  // which has no decimal form
    text = type == ElementType::f64
               ? fmt::format("0x{:016X}", std::bit_cast<std::uint64_t>(value.f))
               : fmt::format("0x{:08X}", std::bit_cast<std::uint32_t>(static_cast<float>(value.f)));
  else if (text.find('.') == std::string::npos)  // MLIR requires one in every float
    text.insert(std::min(text.size(), text.find('e')), ".0");
  return fmt::format("{} : {}", text, type_name(type));
}

std::string on_one_line(std::string text) {
  for (char& c : text)
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ') c = '_';
  return text;
}

std::string symbol(std::string_view name) {
  bool plain = !name.empty() && !(name[0] >= '0' && name[0] <= '9');
  for (char c : name)
    plain = plain && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_');
  return plain ? "@" + std::string(name) : "@\"" + on_one_line(std::string(name)) + "\"";
}

std::string list(const std::vector<std::int64_t>& numbers) { return fmt::format("[{}]", fmt::join(numbers, ", ")); }

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  return fmt::format("{}", fmt::join(parts, between));
}

}  // namespace tap::backend::mlir
