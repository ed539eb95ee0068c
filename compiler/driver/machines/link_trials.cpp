#include "compiler/driver/machines/link_trials.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "compiler/driver/median.h"
#include "compiler/driver/mpi_host.h"
#include "compiler/driver/process_messages.h"

namespace tap::driver {
namespace {

constexpr std::int64_t small = 8, least_large = 32 << 10, most_large = 8 << 20;  // bytes
constexpr std::size_t most_samples = 200, least_samples = 5;

// The process with the lower number says what the other one echoes. No messages: the pair is done.
struct Exchange {
  std::int64_t bytes = 0, messages = 0;
};

std::span<std::byte> bytes_of(Exchange& exchange) { return std::as_writable_bytes(std::span(&exchange, 1)); }

Figure figure_of(std::vector<double> samples) {
  std::ranges::sort(samples);
  const std::size_t count = samples.size();
  const double middle = samples[count / 2];
  return {middle, middle > 0 ? (samples[count * 3 / 4] - samples[count / 4]) / 2 / middle : 0};
}

class Pair {
 public:
  Pair(const ProcessMessages& messages, std::int64_t other, std::vector<std::byte>& buffer)
      : messages_(messages), other_(other), buffer_(buffer) {}

  void echo() {
    for (Exchange asked;;) {
      messages_.receive(other_, bytes_of(asked));
      if (asked.messages == 0) return;
      const std::span<std::byte> data = own(asked.bytes);
      for (std::int64_t k = 0; k < asked.messages; ++k) {
        messages_.receive(other_, data);
        messages_.send(other_, data);
      }
    }
  }

  PairFigures measure(std::int64_t self, double seconds) {
    one_way(small, 4);  // connects them, and waits until the other one is here
    std::vector<double> latencies, bandwidths;
    const Stopwatch watch;
    while (latencies.size() < least_samples || (latencies.size() < most_samples && watch.seconds() < seconds / 3))
      latencies.push_back(one_way(small, 10));
    const Figure latency = figure_of(std::move(latencies));
    // As large as the time allows, so that what messages have at their start counts little.
    std::int64_t bytes = least_large;
    double once = one_way(bytes, 1);
    while (bytes < most_large && once < seconds / 40) once = one_way(bytes *= 2, 1);
    while (bandwidths.size() < least_samples || (bandwidths.size() < most_samples && watch.seconds() < seconds)) {
      const double all = one_way(bytes, 1);
      // On a busy machine small messages wait for a processor: then the difference says little.
      bandwidths.push_back(static_cast<double>(bytes) / std::max(all - latency.value, all / 2));
    }
    Exchange end;
    messages_.send(other_, bytes_of(end));
    return {self, other_, latency, figure_of(std::move(bandwidths))};
  }

 private:
  std::span<std::byte> own(std::int64_t bytes) {
    if (buffer_.size() < static_cast<std::size_t>(bytes)) buffer_.resize(static_cast<std::size_t>(bytes));
    return std::span(buffer_).first(static_cast<std::size_t>(bytes));
  }
  // Seconds of one message, of several that go to and fro.
  double one_way(std::int64_t bytes, std::int64_t messages) {
    Exchange asked{bytes, messages};
    messages_.send(other_, bytes_of(asked));
    const std::span<std::byte> data = own(bytes);
    const Stopwatch watch;
    for (std::int64_t k = 0; k < messages; ++k) {
      messages_.send(other_, data);
      messages_.receive(other_, data);
    }
    return watch.seconds() / static_cast<double>(2 * messages);
  }

  const ProcessMessages& messages_;
  const std::int64_t other_;
  std::vector<std::byte>& buffer_;
};

}  // namespace

std::int64_t rounds_of_tournament(std::int64_t players) {
  return players < 2 ? 0 : players % 2 == 0 ? players - 1 : players;
}

// Those whose numbers add up to the round, modulo the rounds, meet. One of them would meet itself: it meets the last player of an
// even number, or nobody.
std::int64_t opponent_in_round(std::int64_t players, std::int64_t round, std::int64_t player) {
  const std::int64_t rounds = rounds_of_tournament(players);
  const bool is_even = players % 2 == 0;
  auto sum = [&](std::int64_t own) { return (round - own + 2 * rounds) % rounds; };
  if (is_even && player == players - 1) {
    for (std::int64_t other = 0; other < rounds; ++other)
      if (sum(other) == other) return other;
  }
  const std::int64_t other = sum(player);
  return other != player ? other : is_even ? players - 1 : -1;
}

std::vector<PairFigures> measure_links(const MpiHost& host, double seconds) {
  constexpr double most_of_pair = 0.5;
  const ProcessMessages messages(host);
  const std::int64_t self = host.rank(), rounds = rounds_of_tournament(host.size());
  const double of_pair = std::min(seconds / static_cast<double>(std::max<std::int64_t>(rounds, 1)), most_of_pair);
  std::vector<std::byte> buffer;
  std::vector<PairFigures> own;
  for (std::int64_t round = 0; round < rounds; ++round) {
    const std::int64_t other = opponent_in_round(host.size(), round, self);
    if (other > self) own.push_back(Pair(messages, other, buffer).measure(self, of_pair));
    else if (other >= 0) Pair(messages, other, buffer).echo();
  }
  if (!host.is_first()) {
    messages.send(0, std::as_bytes(std::span(own)));
    return {};
  }
  for (std::int64_t process = 1; process < host.size(); ++process) {
    std::vector<PairFigures> theirs(static_cast<std::size_t>(host.size() - 1 - process));
    messages.receive(process, std::as_writable_bytes(std::span(theirs)));
    own.insert(own.end(), theirs.begin(), theirs.end());
  }
  std::ranges::sort(own, {}, [](const PairFigures& pair) { return std::pair(pair.from, pair.to); });
  return own;
}

}  // namespace tap::driver
