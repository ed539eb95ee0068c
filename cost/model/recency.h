// Estimates which data is still cached: for each buffer, the number of bytes of other buffers accessed since its last
// use.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace tap::cost {

class Recency {
 public:
  explicit Recency(double most) : most_(most) {}  // `most`: bytes of history

  // Bytes of other memories accessed since the last access to this one, or to its largest part that was accessed at once;
  // more than `most` if there was none, or too long ago.
  double since(std::size_t memory) const;
  // The kernel of that access; none for copies and messages.
  std::optional<std::size_t> user(std::size_t memory) const;
  void touch(std::size_t memory, double bytes, std::optional<std::size_t> kernel = {});
  void exchange(std::size_t a, std::size_t b);

 private:
  struct Touched {
    std::size_t memory = 0;
    double bytes = 0;
    std::optional<std::size_t> kernel;
  };
  struct Latest {
    double since = 0;
    std::optional<std::size_t> kernel;
  };
  Latest latest(std::size_t memory) const;
  double most_;
  std::vector<Touched> last_;  // latest last; what is accessed again is no longer part of earlier ones
};

}  // namespace tap::cost
