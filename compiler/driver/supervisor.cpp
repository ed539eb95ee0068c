#include "compiler/driver/supervisor.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include "compiler/driver/mpi_host.h"
#include "support/exit_code.h"
#include "support/write_all.h"

namespace tap::driver {
namespace {

executor::Progress* progress = nullptr;  // in memory that parent and child share
pid_t supervised = -1;                   // in the parent
volatile std::sig_atomic_t stopped_by = 0;

extern "C" void pass_on(int signal) {
  if (signal != SIGCONT && signal != SIGUSR1 && signal != SIGUSR2) stopped_by = signal;
  if (supervised > 0) ::kill(supervised, signal);
}

std::string activity() {
  const std::string last(progress->operation, ::strnlen(progress->operation, sizeof progress->operation));
  switch (progress->activity) {
    case executor::Activity::preparing: return "before it ran the program";
    case executor::Activity::computing:
      return last.empty() ? "while it ran the program" : "while it computed `" + last + "`";
    case executor::Activity::exchanging:
      return "while it exchanged cells with other processes" +
             (last.empty() ? "" : ", after it had started to compute `" + last + "`");
    case executor::Activity::finished: return "while it wrote results";
    case executor::Activity::ended: break;
  }
  return "";
}

// The parent's whole life.
[[noreturn]] void wait_for_child() {
  int status = 0;
  while (::waitpid(supervised, &status, 0) < 0 && errno == EINTR) {}
  const bool killed = WIFSIGNALED(status);
  if (progress->activity != executor::Activity::ended && stopped_by == 0) {
    const std::string how =
        killed ? fmt::format("was ended by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)))
               : fmt::format("ended with exit code {}", WEXITSTATUS(status));
    write_all(STDERR_FILENO, fmt::format("tapc: error[T1301]: process {} of the job {} {}\n", MpiHost::launched_as(),
                                         how, activity()));
    ::_exit(killed || WEXITSTATUS(status) == 0 ? exit_code::run_time : WEXITSTATUS(status));
  }
  ::_exit(killed ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

}  // namespace

void run_supervised() {
  if (MpiHost::launched_as().empty()) return;
  void* shared = ::mmap(nullptr, sizeof(executor::Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return;
  progress = new (shared) executor::Progress();
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    progress = nullptr;
    return;
  }
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(exit_code::run_time);  // it has died meanwhile
    return;
  }
  supervised = child;
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGCONT, SIGUSR1, SIGUSR2, SIGQUIT}) ::signal(signal, pass_on);
  wait_for_child();
}

executor::Progress* own_progress() { return progress; }

void end_supervised() {
  if (progress) progress->activity = executor::Activity::ended;
}

}  // namespace tap::driver
