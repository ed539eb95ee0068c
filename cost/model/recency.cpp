#include "cost/model/recency.h"

#include <algorithm>

namespace tap::cost {

Recency::Latest Recency::latest(std::size_t memory) const {
  double bytes = 0, largest = 0;
  Latest found{2 * most_ + 1, {}};
  for (auto one = last_.rbegin(); one != last_.rend() && bytes <= most_; ++one) {
    if (one->memory != memory) bytes += one->bytes;
    else if (one->bytes > largest) largest = one->bytes, found = {bytes, one->kernel};
  }
  return found;
}

double Recency::since(std::size_t memory) const { return latest(memory).since; }
std::optional<std::size_t> Recency::user(std::size_t memory) const { return latest(memory).kernel; }

// Forgets data that no cache can still hold.
void Recency::touch(std::size_t memory, double bytes, std::optional<std::size_t> kernel) {
  double left = bytes;
  for (auto one = last_.rbegin(); one != last_.rend(); ++one) {
    if (one->memory != memory) continue;
    const double again = std::min(left, one->bytes);
    one->bytes -= again;
    left -= again;
  }
  std::erase_if(last_, [](const Touched& t) { return t.bytes <= 0; });
  last_.push_back({memory, bytes, kernel});
  double all = 0;
  std::size_t kept = 0;
  while (kept < last_.size() && all <= 2 * most_) all += last_[last_.size() - ++kept].bytes;
  last_.erase(last_.begin(), last_.end() - static_cast<std::ptrdiff_t>(kept));
}

void Recency::exchange(std::size_t a, std::size_t b) {
  for (Touched& t : last_)
    if (t.memory == a) t.memory = b;
    else if (t.memory == b) t.memory = a;
}

}  // namespace tap::cost
