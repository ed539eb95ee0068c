#include <fmt/format.h>

#include "compiler/driver/bindings/library_files.h"

namespace tap::driver {
namespace {

// The common part of all generated headers; several may be included together.
constexpr std::string_view common = R"(#ifndef TAPESTRY_ABI_1
#define TAPESTRY_ABI_1

/* What the functions return. */
enum tapestry_status {
  TAPESTRY_DONE = 0,
  TAPESTRY_FAILED = 1,          /* the program failed, for example by a division by zero; the message has the location */
  TAPESTRY_NO_MEMORY = 2,
  TAPESTRY_MISSING_KERNEL = 3,  /* an outside kernel is missing */
  TAPESTRY_WRONG_ARGUMENT = 4,
  TAPESTRY_WRONG_PROCESSOR = 5, /* the processor lacks instructions that the code uses; nothing was executed */
  TAPESTRY_LOST_PROCESS = 6,    /* a message of another process of the job did not arrive */
  TAPESTRY_NO_MPI = 7           /* MPI cannot be used; the message names what is missing */
};

/* A tensor of the caller: the address of its first cell, and its strides in elements. Null strides mean row-major without
   gaps; then nothing is copied. */
typedef struct tapestry_tensor {
  void *data;
  const int64_t *strides;
} tapestry_tensor;

typedef struct tapestry_region {
  void *data;
  const int64_t *extents;
  const int64_t *strides;
} tapestry_region;
typedef void (*tapestry_outside_kernel)(const int64_t *box, const int64_t *extents, const tapestry_region *regions);

typedef struct tapestry_options {
  int64_t threads;                         /* 0: one for each core that the process may use */
  const tapestry_outside_kernel *kernels;  /* the program's outside kernels, in the order below; null if it has none */
} tapestry_options;

/* A tensor of DLPack: the type of dlpack.h, if it is included before this header; else a type with the same layout. */
#ifdef DLPACK_DLPACK_H_
typedef DLTensor tapestry_dltensor;
#else
typedef struct tapestry_dltensor {
  void *data;
  struct {
    int32_t device_type, device_id; /* 1, 0: the memory of the CPU */
  } device;
  int32_t ndim;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t *shape;
  int64_t *strides;
  uint64_t byte_offset;
} tapestry_dltensor;
#endif

#endif
)";

// For use inside a C comment.
std::string shown(std::string_view name) {
  std::string out;
  for (char c : name) out += (c >= ' ' && c <= '~' && c != '*' && c != '\\' && c != '?') ? c : '_';
  return out;
}

std::string list(std::string_view title, const std::vector<backend::ProgramTensor>& tensors, bool constants) {
  std::string out;
  std::size_t number = 0;
  for (const backend::ProgramTensor& t : tensors)
    if (t.constant == constants) out += fmt::format("     {}: {}: {}\n", number++, shown(t.name), to_string(t.type));
  return out.empty() ? fmt::format("   No {}.\n", title) : fmt::format("   The {}:\n{}", title, out);
}

std::string for_mpi(const std::string& prefix) {
  return fmt::format(R"(
/* The same in an MPI job: called by all processes of the communicator, given as MPI_Comm_c2f(communicator); their number is one that
   the program was compiled for, or one. Each process has parts of the tensors: constants here, inputs and outputs of {0}_run
   are its parts, in the order of {0}_part. One thread at a time may run such a context; all processes run it the same number of
   times, and release it before MPI_Finalize. If one fails, others wait for it: end the job, for example by MPI_Abort. */
int32_t {0}_prepare_mpi({0}_context **context, int32_t communicator, const tapestry_tensor *constants,
                        const tapestry_options *options);

/* The parts of a process: kind 0 are constants, 1 inputs, 2 outputs; `number` counts its parts of this kind from 0. Returns the number of
   the tensor, as listed above, and its box: bounds[2 * axis] up to, not including, bounds[2 * axis + 1]. -1: there are no more parts.
   Parts of inputs may overlap; each cell of an output is in one part of one process. */
int64_t {0}_part(int32_t kind, int64_t rank, int64_t ranks, int64_t number, int64_t *bounds);
)",
                     prefix);
}

}  // namespace

std::string c_header(const LibraryFacts& facts) {
  const std::string& p = facts.prefix;
  std::string tensors = list("constants", facts.schedule->inputs, true) +
                        list("inputs", facts.schedule->inputs, false) + list("outputs", facts.schedule->outputs, false);
  for (std::size_t k = 0; k < facts.schedule->outside.size(); ++k)
    tensors += fmt::format("   Outside kernel {}: {}\n", k, shown(facts.schedule->outside[k]));
  std::string text = fmt::format("/* The program {}, as tapc compiled it.\n\n{}*/\n", shown(facts.program), tensors);
  text += fmt::format(
      "#ifndef TAPESTRY_PROGRAM_{0}\n#define TAPESTRY_PROGRAM_{0}\n\n#include <stddef.h>\n#include <stdint.h>\n\n", p);
  text += common;
  text += fmt::format(R"(
#ifdef __cplusplus
extern "C" {{
#endif

typedef struct {0}_context {0}_context;
typedef struct {0}_bound {0}_bound;

/* 1, as TAPESTRY_ABI_1. */
int32_t {0}_abi_version(void);

/* Copies the constants and options, and starts the threads. Null `options` mean one thread. On a failure other than
   TAPESTRY_NO_MEMORY it also returns a context: read the message from it, then release it. */
int32_t {0}_prepare({0}_context **context, const tapestry_tensor *constants, const tapestry_options *options);

/* May run on any number of threads concurrently, also with one context. Outputs must not alias. */
int32_t {0}_run({0}_context *context, const tapestry_tensor *inputs, const tapestry_tensor *outputs);

/* For short runs that are repeated: `bind` checks the tensors once, `call` runs with what they contain by then. They must stay
   where they are until `unbind`, which comes before `release`. One thread at a time may call what is bound; any number may
   be bound. */
int32_t {0}_bind({0}_context *context, const tapestry_tensor *inputs, const tapestry_tensor *outputs, {0}_bound **bound);
int32_t {0}_call({0}_bound *bound);
void {0}_unbind({0}_bound *bound);

/* The same with DLPack tensors, whose types and shapes are checked. */
int32_t {0}_prepare_dlpack({0}_context **context, const tapestry_dltensor *const *constants, const tapestry_options *options);
int32_t {0}_run_dlpack({0}_context *context, const tapestry_dltensor *const *inputs, const tapestry_dltensor *const *outputs);

/* The message of the last failed call with this context, truncated to `size` bytes including the terminator. Returns the
   length of the whole message. */
size_t {0}_message({0}_context *context, char *text, size_t size);

void {0}_release({0}_context *context);
{1}
#ifdef __cplusplus
}}
#endif

#endif
)",
                      p, facts.processes.empty() ? "" : for_mpi(p));
  return text;
}

}  // namespace tap::driver
