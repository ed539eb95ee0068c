#include "runtime/mpi_job.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace tap::executor {
namespace {

constexpr const char* rank_names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
constexpr const char* size_names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"};

const char* first_of(const char* const* begin, const char* const* end) {
  for (; begin != end; ++begin)
    if (const char* value = getenv(*begin)) return value;
  return nullptr;
}

using ShimFunction = const tap_mpi* (*)();

// From FOLDER/NAME or FOLDER/../lib/tapestry/NAME, for the folder of a file.
void* load_beside(const char* file, const char* name) {
  const char* slash = strrchr(file, '/');
  const int length = slash ? static_cast<int>(slash - file) : 1;
  char path[PATH_MAX];
  constexpr const char* places[] = {"/", "/../lib/tapestry/"};
  for (const char* between : places) {
    const int size = snprintf(path, sizeof path, "%.*s%s%s", length, slash ? file : ".", between, name);
    if (size >= static_cast<int>(sizeof path) || access(path, R_OK) != 0) continue;
    if (void* library = dlopen(path, RTLD_NOW | RTLD_GLOBAL)) return library;
  }
  return nullptr;
}

}  // namespace

const char* mpi_of_process() {
  if (dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world")) return "openmpi";
  if (dlsym(RTLD_DEFAULT, "MPIR_Dup_fn")) return "mpich";
  if (getenv("OMPI_COMM_WORLD_SIZE")) return "openmpi";
  if (getenv("PMI_SIZE") || getenv("PMI_RANK")) return "mpich";
  return "openmpi";
}

int64_t launched_processes() {
  if (!launched_as()) return 1;
  const char* size = first_of(size_names, size_names + sizeof size_names / sizeof *size_names);
  return size ? strtoll(size, nullptr, 10) : 0;
}

const char* launched_as() { return first_of(rank_names, rank_names + sizeof rank_names / sizeof *rank_names); }

const tap_mpi* load_shim(const void* beside, char* name, size_t size) {
  snprintf(name, size, "libtapc_mpi_%s.so", mpi_of_process());
  void* library = nullptr;
  Dl_info info;
  if (beside && dladdr(const_cast<void*>(beside), &info) != 0 && info.dli_fname)
    library = load_beside(info.dli_fname, name);
  char self[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (!library && length > 0) {
    self[length] = 0;
    library = load_beside(self, name);
  }
  if (!library) library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
  auto get = library ? reinterpret_cast<ShimFunction>(dlsym(library, "tap_mpi_shim")) : nullptr;
  return get ? get() : nullptr;
}

}  // namespace tap::executor
