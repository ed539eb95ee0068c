#include "runtime/supervise.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>

#include "runtime/mpi_job.h"
#include "support/exit_code.h"

namespace tap::executor {
namespace {

// Of the parent.
struct Supervised {
  pid_t child = -1;
  const char* reporter = "";
  const Progress* progress = nullptr;
};
Supervised supervised;
volatile sig_atomic_t stopped_by = 0;

constexpr unsigned seconds_to_end = 3;  // that a child has to end by itself

extern "C" void tap_supervise_pass_on(int signal) {
  if (supervised.child > 0) kill(supervised.child, signal);
  if (signal == SIGCONT || signal == SIGUSR1 || signal == SIGUSR2) return;
  stopped_by = signal;
  alarm(seconds_to_end);
}

extern "C" void tap_supervise_end_child(int) {
  if (supervised.child > 0) kill(supervised.child, SIGKILL);
}

// `what` as in "was ended by signal 9". One write, so that messages of several processes do not mix.
void report_child(const char* what) {
  const Progress& progress = *supervised.progress;
  char last[sizeof progress.operation + sizeof progress.shard + 8] = "";
  if (progress.operation[0])
    snprintf(last, sizeof last, "`%.*s`%.*s", static_cast<int>(sizeof progress.operation), progress.operation,
             static_cast<int>(sizeof progress.shard), progress.shard);
  const char *doing = "", *then = "";
  switch (progress.activity) {
    case Activity::preparing: doing = " before it ran the program"; break;
    case Activity::computing: doing = last[0] ? " while it computed " : " while it ran the program"; break;
    case Activity::exchanging:
      doing = " while it exchanged cells with other processes";
      then = last[0] ? ", after it had started to compute " : "";
      break;
    case Activity::finished: doing = " while it wrote results"; break;
    case Activity::ended: break;
  }
  const bool names = progress.activity == Activity::computing || progress.activity == Activity::exchanging;
  char text[1024];
  const int size = snprintf(text, sizeof text, "%s: process %s of the job %s%s%s%s\n", supervised.reporter,
                            launched_as(), what, doing, then, names ? last : "");
  const ssize_t written =
      ::write(STDERR_FILENO, text, size < static_cast<int>(sizeof text) ? static_cast<size_t>(size) : sizeof text - 1);
  (void)written;  // nothing is left to report it
}

// By SIGSTOP, as in /proc/PID/stat: "123 (tapc) T …".
bool is_stopped(pid_t process) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%ld/stat", static_cast<long>(process));
  FILE* file = fopen(path, "r");
  if (!file) return false;
  const size_t size = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[size] = 0;
  const char *end = nullptr, *at = text;
  while ((at = strstr(at, ") "))) end = at++;
  return end && end[2] == 'T';
}

// Whether the child has ended: its status. Ends it if it hangs.
int wait_for_end(double most_seconds, bool& hung) {
  constexpr double step = 0.1;
  int status = 0;
  double idle = 0;
  int64_t steps = 0;
  Activity last = Activity::preparing;
  while (true) {
    const pid_t ended = waitpid(supervised.child, &status, most_seconds != 0 ? WNOHANG : 0);
    if (ended == supervised.child || (ended < 0 && errno != EINTR)) return status;
    if (most_seconds == 0) continue;
    usleep(static_cast<useconds_t>(step * 1e6));
    const int64_t now = __atomic_load_n(&supervised.progress->steps, __ATOMIC_RELAXED);
    const Activity activity = supervised.progress->activity;
    const bool may_wait = activity != Activity::computing && !is_stopped(supervised.child);
    const bool moved = steps != now || last != activity;
    steps = now;
    last = activity;
    idle = may_wait || moved ? 0 : idle + step;
    const double patience = patience_of(most_seconds, supervised.progress->longest_step);
    if (idle < patience || hung) continue;
    hung = true;
    char what[64];
    snprintf(what, sizeof what, "made no progress for %.4g s", patience);
    report_child(what);
    kill(supervised.child, SIGKILL);
  }
}

// The parent's whole life.
[[noreturn]] void wait_for_child(double most_seconds) {
  bool hung = false;
  const int status = wait_for_end(most_seconds, hung);
  const bool killed = WIFSIGNALED(status);
  if (hung) _exit(exit_code::run_time);
  if (supervised.progress->activity != Activity::ended && stopped_by == 0) {
    char what[128];
    if (killed)
      snprintf(what, sizeof what, "was ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else snprintf(what, sizeof what, "ended with exit code %d", WEXITSTATUS(status));
    report_child(what);
    _exit(killed || WEXITSTATUS(status) == 0 ? exit_code::run_time : WEXITSTATUS(status));
  }
  _exit(killed ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

}  // namespace

Progress* supervise(const char* reporter, double most_seconds) {
  if (!launched_as()) return nullptr;
  void* shared = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return nullptr;
  auto* progress = new (shared) Progress();
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return nullptr;
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(exit_code::run_time);  // it has died meanwhile
    return progress;
  }
  supervised = {child, reporter, progress};
  constexpr int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGCONT, SIGUSR1, SIGUSR2, SIGQUIT};
  for (int one : passed_on) signal(one, tap_supervise_pass_on);
  signal(SIGALRM, tap_supervise_end_child);
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // the launcher has died: no process stays behind
  wait_for_child(most_seconds);
}

}  // namespace tap::executor
