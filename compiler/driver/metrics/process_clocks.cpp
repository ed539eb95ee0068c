#include "compiler/driver/metrics/process_clocks.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "compiler/driver/mpi_host.h"
#include "compiler/driver/process_messages.h"
#include "runtime/recorder.h"

namespace tap::driver {
namespace {

constexpr int questions = 8;

// The same for all processes of a machine that was started once.
std::string started_machine() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string text;
  std::getline(file, text);
  return text;
}

void send_time(const ProcessMessages& messages, std::int64_t to, std::int64_t time) {
  messages.send(to, std::as_bytes(std::span(&time, 1)));
}
std::int64_t receive_time(const ProcessMessages& messages, std::int64_t from) {
  std::int64_t time = 0;
  messages.receive(from, std::as_writable_bytes(std::span(&time, 1)));
  return time;
}

std::int64_t ask(const ProcessMessages& messages, std::int64_t process) {
  const bool same_machine = messages.receive_text(process) == started_machine();
  std::vector<ClockSample> samples;
  for (int q = 0; q < questions; ++q) {
    ClockSample sample{executor::nanoseconds()};
    send_time(messages, process, 0);
    sample.other = receive_time(messages, process);
    sample.answered = executor::nanoseconds();
    samples.push_back(sample);
  }
  return same_machine ? 0 : clock_difference(samples);
}

void answer(const ProcessMessages& messages) {
  messages.send_text(0, started_machine());
  for (int q = 0; q < questions; ++q) {
    receive_time(messages, 0);
    send_time(messages, 0, executor::nanoseconds());
  }
}

}  // namespace

std::int64_t clock_difference(const std::vector<ClockSample>& samples) {
  const auto soonest = std::min_element(samples.begin(), samples.end(), [](const ClockSample& a, const ClockSample& b) {
    return a.answered - a.asked < b.answered - b.asked;
  });
  return soonest->other - (soonest->asked + (soonest->answered - soonest->asked) / 2);
}

std::int64_t common_origin(const MpiHost& host, std::int64_t first) {
  const ProcessMessages messages(host);
  if (!host.is_first()) {
    answer(messages);
    send_time(messages, 0, first);
    return receive_time(messages, 0);
  }
  std::vector<std::int64_t> differences{0};
  std::int64_t origin = first;
  for (std::int64_t process = 1; process < host.size(); ++process) {
    differences.push_back(ask(messages, process));
    origin = std::min(origin, receive_time(messages, process) - differences.back());
  }
  for (std::int64_t process = 1; process < host.size(); ++process)
    send_time(messages, process, origin + differences[static_cast<std::size_t>(process)]);
  return origin;
}

}  // namespace tap::driver
