// tapc, started once and forked for each command: loading LLVM takes most of a short command, and the process tests run
// thousands of them. forks.py is the other side.
//
//   tapc_forks SOCKET     a descriptor of a SOCK_SEQPACKET socket; ends when the other side is closed
//
// A request is a packet of strings, each with a null behind it, and three descriptors: standard input, output and error.
//
//   folder, limit of the address space (0: none), number of arguments, arguments…, environment…
//
// The answer is the process id, in a packet of its own, then the status of waitpid().
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "backend/llvm/start_llvm.h"
#include "compiler/driver/tapc.h"

namespace {

constexpr std::size_t most_bytes = 1 << 17;

struct Request {
  std::vector<char*> strings;  // into the packet
  std::array<int, 3> streams = {-1, -1, -1};
};

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

// False at the end of the connection.
bool receive(int socket, std::vector<char>& packet, Request& request) {
  packet.resize(most_bytes);
  iovec part{packet.data(), packet.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof request.streams)];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t bytes = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (bytes < 0) fail("recvmsg");
  if (bytes == 0) return false;
  const cmsghdr* head = CMSG_FIRSTHDR(&message);
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) || !head || head->cmsg_len != CMSG_LEN(sizeof request.streams))
    fail("a request");
  std::memcpy(request.streams.data(), CMSG_DATA(head), sizeof request.streams);
  request.strings.clear();
  for (char *at = packet.data(), *end = at + bytes; at < end; at += std::strlen(at) + 1) request.strings.push_back(at);
  return true;
}

[[noreturn]] void run(int socket, Request& request) {
  ::close(socket);
  for (int k = 0; k < 3; ++k)
    if (::dup2(request.streams[k], k) < 0) std::_Exit(126);
  for (int descriptor : request.streams) ::close(descriptor);
  std::vector<char*>& strings = request.strings;
  if (::chdir(strings[0]) != 0) std::_Exit(126);
  if (const rlim_t bytes = std::strtoull(strings[1], nullptr, 10)) {
    const rlimit limit{bytes, bytes};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) std::_Exit(126);
  }
  const std::size_t count = std::strtoull(strings[2], nullptr, 10);
  std::vector<char*> arguments(strings.begin() + 3, strings.begin() + 3 + count);
  std::vector<char*> variables(strings.begin() + 3 + count, strings.end());
  arguments.push_back(nullptr);
  variables.push_back(nullptr);
  environ = variables.data();
  std::exit(tap::driver::run_tapc(static_cast<int>(count), arguments.data()));
}

void send(int socket, std::int32_t number) {
  if (::send(socket, &number, sizeof number, MSG_NOSIGNAL) != sizeof number) std::exit(0);  // nobody is there any more
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const int socket = std::atoi(argv[1]);
  tap::backend::start_llvm();  // once for all
  std::vector<char> packet;
  Request request;
  while (receive(socket, packet, request)) {
    const pid_t child = ::fork();
    if (child < 0) fail("fork");
    if (child == 0) run(socket, request);
    for (int descriptor : request.streams) ::close(descriptor);
    send(socket, child);
    int status = 0;
    if (::waitpid(child, &status, 0) != child) fail("waitpid");
    send(socket, status);
  }
}
