#include "compiler/driver/mpi_host.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "support/diagnostic.h"
#include "support/exit_code.h"

namespace tap::driver {
namespace {

std::unique_ptr<MpiHost> host;  // of this process

Failure unusable(const std::string& what, std::string help) {
  return {exit_code::resource, Diagnostic(Code::cannot_read, Span{}, what).help(std::move(help))};
}

}  // namespace

MpiHost& MpiHost::start() {
  if (!host) host.reset(new MpiHost());
  return *host;
}

void MpiHost::leave(int exit_code) {
  if (!host) return;
  if (exit_code != 0) {
    // Launchers end all processes when one aborts. MPICH's may drop what was written immediately before; Open MPI's may hang or
    // crash when several abort at once, so each waits to be ended by an earlier one's.
    const bool is_mpich = std::string_view(executor::mpi_of_process()) == "mpich";
    ::usleep(static_cast<useconds_t>(is_mpich ? 100'000 : std::min<std::int64_t>(host->rank_, 4) * 400'000));
    host->job_.mpi->abort(host->job_.job, exit_code);
  }
  host->job_.mpi->leave(host->job_.job);
  host.reset();
}

MpiHost::MpiHost() {
  char name[64];
  job_.mpi = executor::load_shim(nullptr, name, sizeof name);
  if (!job_.mpi)
    throw unusable(fmt::format("`{}`, which --mpi needs, cannot be loaded", name),
                   "build tapc where the MPI of your launcher is installed, or run without --mpi");
  if (job_.mpi->version != TAP_MPI_SHIM_VERSION)
    throw unusable(fmt::format("`{}` belongs to another version of tapc", name), "install both from one build");
  if (const std::int32_t why = job_.mpi->join(nullptr, 1, &job_.job); why != 0)
    throw unusable(
        why == TAP_MPI_TOO_FEW_THREADS ? "MPI does not support threads (MPI_THREAD_FUNNELED)" : "MPI does not start",
        "run tapc with the launcher of this MPI, for example `mpirun -n 4 tapc run … --mpi`");
  rank_ = job_.rank();
  size_ = job_.size();
}

std::string MpiHost::launched_as() {
  const char* rank = executor::launched_as();
  return rank ? rank : "";
}

bool MpiHost::is_follower() {
  const std::string rank = launched_as();
  return !rank.empty() && rank != "0";
}

executor::Messages MpiHost::messages() const { return job_.messages(); }

bool MpiHost::has_message(std::int64_t from) const { return job_.mpi->has_message(job_.job, from) != 0; }

std::vector<std::int64_t> MpiHost::nodes() const {
  std::vector<std::int32_t> first(static_cast<std::size_t>(size_));
  if (job_.mpi->nodes(job_.job, first.data()) != 0)
    throw Failure{exit_code::run_time,
                  Diagnostic(Code::run_time, Span{}, "MPI does not say which processes run on this node")};
  return {first.begin(), first.end()};
}

std::vector<std::int64_t> MpiHost::of_node() const {
  const std::vector<std::int64_t> first = nodes();
  std::vector<std::int64_t> processes;
  for (std::int64_t process = 0; process < size_; ++process)
    if (first[static_cast<std::size_t>(process)] == first[static_cast<std::size_t>(rank_)])
      processes.push_back(process);
  return processes;
}

}  // namespace tap::driver
