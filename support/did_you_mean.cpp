// The most similar name, for `did you mean`: by edit distance, where swapping two adjacent letters is one edit (reul
// → relu).
#include <algorithm>
#include <vector>

#include "support/diagnostic.h"

namespace tap {
namespace {

constexpr std::size_t longest_name = 100;  // longer names are not compared: the distance takes quadratic time

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t replaced = previous[j - 1] + (a[i - 1] != b[j - 1]);
      current[j] = std::min({replaced, previous[j] + 1, current[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], before[j - 2] + 1);
    }
    before.swap(previous);
    previous.swap(current);
  }
  return previous[b.size()];
}

// The maximum distance: 0 for one letter, 1 for short names, a third of the length for long ones.
std::size_t near_enough(std::size_t length) {
  return length <= 1 ? 0 : length <= 5 ? 1 : std::min<std::size_t>(length / 3, 4);
}

bool equal_but_for_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

std::optional<std::string> did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  if (name.empty() || name.size() > longest_name) return std::nullopt;
  const std::string* best = nullptr;
  std::size_t best_distance = near_enough(name.size()) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate == name || candidate.size() > longest_name) continue;
    std::size_t distance = equal_but_for_case(name, candidate) ? 0 : edit_distance(name, candidate);
    if (distance < best_distance || (best && distance == best_distance && candidate < *best)) {
      best = &candidate;
      best_distance = distance;
    }
  }
  if (!best) return std::nullopt;
  return *best;
}

}  // namespace tap
