// Messages between the processes of an MPI job that are not part of the program's run: results, and whether they are written.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tap::driver {

class MpiHost;

class ProcessMessages {
 public:
  explicit ProcessMessages(const MpiHost& host) : host_(host) {}

  // Return when the message has left, or arrived. Throw Failure, exit 6, if a process is lost.
  void send(std::int64_t to, std::span<const std::byte> bytes) const;
  void receive(std::int64_t from, std::span<std::byte> bytes) const;
  void send_text(std::int64_t to, std::string_view text) const;
  std::string receive_text(std::int64_t from) const;

 private:
  const MpiHost& host_;
};

}  // namespace tap::driver
