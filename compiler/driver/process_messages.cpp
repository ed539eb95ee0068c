#include "compiler/driver/process_messages.h"

#include <fmt/format.h>

#include "compiler/driver/mpi_host.h"
#include "support/diagnostic.h"
#include "support/exit_code.h"

namespace tap::driver {
namespace {

Failure lost(std::int64_t process) {
  return {exit_code::run_time,
          Diagnostic(Code::run_time, Span{}, fmt::format("a message of process {} did not arrive", process))};
}

}  // namespace

void ProcessMessages::send(std::int64_t to, std::span<const std::byte> bytes) const {
  const executor::Messages messages = host_.messages();
  const bool sent = messages.send(messages.self, to, bytes.data(), static_cast<std::int64_t>(bytes.size())) == 0;
  if (messages.wait(messages.self) != 0 || !sent) throw lost(host_.rank());
}

void ProcessMessages::receive(std::int64_t from, std::span<std::byte> bytes) const {
  const executor::Messages messages = host_.messages();
  const bool started = messages.receive(messages.self, from, bytes.data(), static_cast<std::int64_t>(bytes.size())) ==
                       0;
  if (messages.wait(messages.self) != 0 || !started) throw lost(from);
}

void ProcessMessages::send_text(std::int64_t to, std::string_view text) const {
  const std::uint64_t size = text.size();
  send(to, std::as_bytes(std::span(&size, 1)));
  send(to, std::as_bytes(std::span(text)));
}

std::string ProcessMessages::receive_text(std::int64_t from) const {
  std::uint64_t size = 0;
  receive(from, std::as_writable_bytes(std::span(&size, 1)));
  std::string text(size, '\0');
  receive(from, std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace tap::driver
