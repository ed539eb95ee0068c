// Texts by key, kept between commands. The contents are trusted, so a store that other users could write to must be
// ignored.
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
