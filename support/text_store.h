// Texts by their keys, from one command to the next. What a store holds is believed: one that others could write to must find
// nothing.
#pragma once

#include <optional>
#include <string>

namespace tap {

class TextStore {
 public:
  virtual ~TextStore() = default;
  virtual std::optional<std::string> find(const std::string& key) = 0;
  virtual void store(const std::string& key, const std::string& text) = 0;
};

}  // namespace tap
