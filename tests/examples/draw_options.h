// The options of programs that draw plans and shardings: how many, from which seed, for which programs.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>

namespace tap {

struct DrawOptions {
  std::uint64_t plans = 0, shardings = 0, seed = 1;
  std::string only, folder;  // of the programs: this one; their modules

  // `other` gets each option that is not one of these, with its value, and says whether it is known.
  void read(int argc, char** argv, const std::function<bool(const std::string& option, const char* value)>& other) {
    for (int a = 1; a < argc; ++a) {
      const std::string word = argv[a];
      const char* value = a + 1 < argc ? argv[a + 1] : nullptr;
      if (value && word == "--plans") plans = std::strtoull(value, nullptr, 10);
      else if (value && word == "--shardings") shardings = std::strtoull(value, nullptr, 10);
      else if (value && word == "--seed") seed = std::strtoull(value, nullptr, 10);
      else if (value && word == "--only") only = value;
      else if (!value || !other(word, value)) {
        folder = word;
        continue;
      }
      ++a;
    }
  }
};

}  // namespace tap
