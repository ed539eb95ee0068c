#include "compiler/driver/mpi_host.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/mpi/shim.h"
#include "support/diagnostic.h"
#include "support/exit_code.h"

namespace tap::driver {
namespace {

std::unique_ptr<MpiHost> host;  // of this process

Failure unusable(const std::string& what, std::string help) {
  return {exit_code::resource, Diagnostic(Code::cannot_read, Span{}, what).help(std::move(help))};
}

// By the variables that launchers set: mpirun of Open MPI, mpiexec of MPICH.
const char* launcher() {
  if (std::getenv("OMPI_COMM_WORLD_SIZE")) return "openmpi";
  if (std::getenv("PMI_SIZE") || std::getenv("PMI_RANK")) return "mpich";
  return "openmpi";
}

// Beside the executable, in a build and when installed.
std::vector<std::filesystem::path> places_of(const std::string& name) {
  std::error_code unknown;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
  return {self / name, self.parent_path() / "lib" / "tapestry" / name};
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
    const bool is_mpich = std::string_view(launcher()) == "mpich";
    ::usleep(static_cast<useconds_t>(is_mpich ? 100'000 : std::min<std::int64_t>(host->rank_, 4) * 400'000));
    host->mpi_->abort(exit_code);
  }
  host->mpi_->stop();
  host.reset();
}

MpiHost::MpiHost() {
  const std::string name = std::string("libtapc_mpi_") + launcher() + ".so";
  void* library = nullptr;
  for (const std::filesystem::path& path : places_of(name))
    if (!library && ::access(path.c_str(), R_OK) == 0) library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  auto* get = library ? reinterpret_cast<const tap_mpi* (*)()>(::dlsym(library, "tap_mpi_shim")) : nullptr;
  if (!get)
    throw unusable("`" + name + "`, which --mpi needs, cannot be loaded",
                   "build tapc where the MPI of your launcher is installed, or run without --mpi");
  mpi_ = get();
  if (mpi_->version != TAP_MPI_SHIM_VERSION)
    throw unusable("`" + name + "` belongs to another version of tapc", "install both from one build");
  if (const std::int32_t why = mpi_->start(); why != 0)
    throw unusable(why == 1 ? "MPI does not start" : "MPI does not support threads (MPI_THREAD_FUNNELED)",
                   "run tapc with the launcher of this MPI, for example `mpirun -n 4 tapc run … --mpi`");
  rank_ = mpi_->rank();
  size_ = mpi_->size();
}

std::string MpiHost::launched_as() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"})
    if (const char* rank = std::getenv(name)) return rank;
  return "";
}

bool MpiHost::is_follower() {
  const std::string rank = launched_as();
  return !rank.empty() && rank != "0";
}

executor::Messages MpiHost::messages() const { return {nullptr, mpi_->send, mpi_->receive, mpi_->wait}; }

}  // namespace tap::driver
