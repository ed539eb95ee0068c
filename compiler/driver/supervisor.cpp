#include "compiler/driver/supervisor.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <new>
#include <string>
#include <utility>

#include "compiler/driver/mpi_host.h"
#include "support/exit_code.h"
#include "support/write_all.h"

namespace tap::driver {
namespace {

executor::Progress* progress = nullptr;  // in memory that parent and child share
pid_t supervised = -1;                   // in the parent
volatile std::sig_atomic_t stopped_by = 0;

constexpr unsigned patience = 3;  // seconds that a child has to end by itself

extern "C" void pass_on(int signal) {
  if (supervised > 0) ::kill(supervised, signal);
  if (signal == SIGCONT || signal == SIGUSR1 || signal == SIGUSR2) return;
  stopped_by = signal;
  ::alarm(patience);
}

extern "C" void end_child(int) {
  if (supervised > 0) ::kill(supervised, SIGKILL);
}

std::string activity() {
  auto text = [](const char* bytes, std::size_t most) { return std::string(bytes, ::strnlen(bytes, most)); };
  std::string last = text(progress->operation, sizeof progress->operation);
  if (!last.empty()) last = "`" + last + "`" + text(progress->shard, sizeof progress->shard);
  switch (progress->activity) {
    case executor::Activity::preparing: return "before it ran the program";
    case executor::Activity::computing: return last.empty() ? "while it ran the program" : "while it computed " + last;
    case executor::Activity::exchanging:
      return "while it exchanged cells with other processes" +
             (last.empty() ? "" : ", after it had started to compute " + last);
    case executor::Activity::finished: return "while it wrote results";
    case executor::Activity::ended: break;
  }
  return "";
}

void report(const std::string& what) {
  write_all(STDERR_FILENO,
            fmt::format("tapc: error[T1301]: process {} of the job {} {}\n", MpiHost::launched_as(), what, activity()));
}

// By SIGSTOP, as in /proc/PID/stat: "123 (tapc) T …".
bool is_stopped(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text;
  std::getline(file, text);
  const std::size_t end = text.rfind(") ");
  return end != text.npos && text[end + 2] == 'T';
}

// Whether the child has ended: its status. Ends it if it hangs.
int wait_for_end(double most_seconds, bool& hung) {
  constexpr double step = 0.1;
  int status = 0;
  double idle = 0;
  std::int64_t steps = 0;
  executor::Activity last = executor::Activity::preparing;
  while (true) {
    const pid_t ended = ::waitpid(supervised, &status, most_seconds > 0 ? WNOHANG : 0);
    if (ended == supervised || (ended < 0 && errno != EINTR)) return status;
    if (most_seconds <= 0) continue;
    ::usleep(static_cast<useconds_t>(step * 1e6));
    const std::int64_t now = __atomic_load_n(&progress->steps, __ATOMIC_RELAXED);
    const executor::Activity activity = progress->activity;
    const bool may_wait = activity != executor::Activity::computing && !is_stopped(supervised);
    const bool moved = std::exchange(steps, now) != now || std::exchange(last, activity) != activity;
    idle = may_wait || moved ? 0 : idle + step;
    if (idle < most_seconds || hung) continue;
    hung = true;
    report(fmt::format("made no progress for {:g} s", most_seconds));
    ::kill(supervised, SIGKILL);
  }
}

// The parent's whole life.
[[noreturn]] void wait_for_child(double most_seconds) {
  bool hung = false;
  const int status = wait_for_end(most_seconds, hung);
  const bool killed = WIFSIGNALED(status);
  if (hung) ::_exit(exit_code::run_time);
  if (progress->activity != executor::Activity::ended && stopped_by == 0) {
    report(killed ? fmt::format("was ended by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)))
                  : fmt::format("ended with exit code {}", WEXITSTATUS(status)));
    ::_exit(killed || WEXITSTATUS(status) == 0 ? exit_code::run_time : WEXITSTATUS(status));
  }
  ::_exit(killed ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

}  // namespace

void run_supervised(double most_seconds) {
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
  ::signal(SIGALRM, end_child);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // the launcher has died: no process stays behind
  wait_for_child(most_seconds);
}

executor::Progress* own_progress() { return progress; }

void end_supervised() {
  if (progress) progress->activity = executor::Activity::ended;
}

}  // namespace tap::driver
