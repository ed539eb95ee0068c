// A kind of change to a stage, and the obligations that may object to it (mutations_of_block_graphs.h, mutations_of_schedules.h).
#pragma once

#include <optional>
#include <random>
#include <string>
#include <vector>

namespace tap::driver::test {

using Random = std::mt19937;
inline std::size_t any(Random& random, std::size_t count) {
  return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
}
template <class T>
T* any(Random& random, std::vector<T>& list) {
  return list.empty() ? nullptr : &list[any(random, list.size())];
}

template <class Stage>
struct StageKind {
  const char* name;
  std::vector<std::string> objects;  // the obligations that may object; none: harmless
  bool (*change)(Stage& stage, Random& random);
};

}  // namespace tap::driver::test
