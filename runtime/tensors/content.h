// The content of a file to write: strings and tensors' data, in order. Tensors share their bytes, so nothing is
// copied before it is written.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "support/tensor.h"

namespace tap {

using Content = std::vector<std::variant<std::string, Tensor>>;

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

inline std::string_view bytes_of(const Content::value_type& piece) {
  if (const auto* text = std::get_if<std::string>(&piece)) return *text;
  const Tensor& tensor = std::get<Tensor>(piece);
  return {reinterpret_cast<const char*>(tensor.data()), tensor.byte_size()};
}

inline std::string flatten(const Content& content) {
  std::string all;
  for (const auto& piece : content) all += bytes_of(piece);
  return all;
}

}  // namespace tap
