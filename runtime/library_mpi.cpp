// Compiled programs in MPI jobs: each process runs the tasks of its devices (backend/schedule/process_schedule.h).
#include <string.h>

#include "runtime/library_context.h"

namespace tap::library {
namespace {

// Of the parts of a process, with the tensor by its number among all inputs, or all results.
Part next_part(const Reader& tables, const tables::List& tensors, const int64_t*& at) {
  const Part part{at[0], at + 1};
  at += 1 + 2 * tables.all<Tensor>(tensors)[part.tensor].extents.count;
  return part;
}

const tables::List& tensors_of(const Reader& words, Kind kind) {
  return kind == Kind::results ? words.head().outputs : words.head().inputs;
}
bool is_of(const Tensor& tensor, Kind kind) {
  return kind == Kind::results || (tensor.constant != 0) == (kind == Kind::constants);
}

// A process that is alone has whole tensors: without bounds.
bool whole_part(const Program& program, Kind kind, int64_t number, Part& part) {
  Reader tables(program.tables);
  const auto& tensors = tensors_of(tables, kind);
  for (int64_t k = 0; number >= 0 && k < tensors.count; ++k) {
    if (!is_of(tables.all<Tensor>(tensors)[k], kind) || number-- > 0) continue;
    part = {k, nullptr};
    return true;
  }
  return false;
}

// The first process that runs another program; -1: none; -2: a message is lost.
int64_t other_program(const executor::MpiJob& job, int64_t own) {
  const executor::Messages messages = job.messages();
  const int64_t rank = job.rank(), ranks = job.size();
  int64_t other = -1;
  bool lost = false;
  auto finish = [&] { lost |= messages.wait(messages.self) != 0; };
  for (int64_t k = 1; k < ranks && rank == 0; ++k) {
    int64_t its = 0;
    lost |= messages.receive(messages.self, k, &its, sizeof its) != 0;
    finish();
    if (other < 0 && its != own) other = k;
  }
  if (rank != 0) lost |= messages.send(messages.self, 0, &own, sizeof own) != 0;
  if (rank != 0) finish();
  for (int64_t k = 1; k < ranks && rank == 0; ++k) lost |= messages.send(messages.self, k, &other, sizeof other) != 0;
  if (rank != 0) lost |= messages.receive(messages.self, 0, &other, sizeof other) != 0;
  finish();
  return lost ? -2 : other;
}

void add_compiled_for(Message& message, const Program& program, int64_t ranks) {
  message.add("the program was compiled for MPI jobs of ");
  int64_t before = 0;
  for (int64_t k = 0; k < program.process_count; ++k) {
    const ProcessProgram& process = program.processes[k];
    if (process.rank != 0) continue;
    message.add(before++ == 0 ? "" : ", ").add(process.ranks);
  }
  message.add(" processes, and this job has ").add(ranks);
}

Status join(Context& context, const int32_t* communicator, int64_t threads, Message& message) {
  char name[64];
  const tap_mpi* mpi = executor::load_shim(reinterpret_cast<const void*>(&tap_library_prepare_mpi), name, sizeof name);
  if (!mpi || mpi->version != TAP_MPI_SHIM_VERSION) {
    message.add("`").add(name).add(mpi ? "` belongs to another version of tapc"
                                       : "` is missing: it is looked for beside the program, and where libraries are");
    return Status::no_mpi;
  }
  void* job = nullptr;
  const int32_t trouble = mpi->join(communicator, threads, &job);
  if (trouble == 0) {
    context.job = {mpi, job};
    return Status::done;
  }
  message.add(
      trouble == TAP_MPI_TOO_FEW_THREADS
          ? "MPI was started for one thread: call MPI_Init_thread with MPI_THREAD_FUNNELED, and run in the main thread"
      : trouble == TAP_MPI_NOT_STARTED ? "MPI is not started: call MPI_Init_thread first"
      : trouble == TAP_MPI_NO_MEMORY   ? "out of memory"
                                       : "MPI does not start");
  return trouble == TAP_MPI_NO_MEMORY ? Status::no_memory : Status::no_mpi;
}

// The part of this process instead of the whole program.
Status take_part(Context& context, const Program& program, Message& message) {
  const int64_t rank = context.job.rank(), ranks = context.job.size();
  if (ranks == 1) {
    context.job.mpi->leave(context.job.job);
    context.job = {};
    return Status::done;
  }
  const int64_t other = other_program(context.job, program.identity);
  if (other == -2) {
    message.add("a message of another process did not arrive");
    return Status::lost_process;
  }
  if (other >= 0) {
    message.add("process ").add(other).add(" of the job runs another program than process 0");
    return Status::wrong_argument;
  }
  const ProcessProgram* own = process_of(program, rank, ranks);
  if (!own) {
    add_compiled_for(message, program, ranks);
    return Status::wrong_argument;
  }
  context.program.tables = own->tables;
  context.among = {rank, ranks, own->devices, context.job.messages(), nullptr, nullptr};
  return Status::done;
}

}  // namespace

const ProcessProgram* process_of(const Program& program, int64_t rank, int64_t ranks) {
  for (int64_t k = 0; k < program.process_count; ++k)
    if (program.processes[k].rank == rank && program.processes[k].ranks == ranks) return &program.processes[k];
  return nullptr;
}

bool part_of(const Program& program, const ProcessProgram& process, Kind kind, int64_t number, Part& part) {
  Reader whole(program.tables), own(process.tables);
  const int64_t* at = process.parts;
  for (int64_t k = 0; k < own.head().inputs.count; ++k) {
    part = next_part(whole, whole.head().inputs, at);
    if (kind != Kind::results && is_of(own.all<Tensor>(own.head().inputs)[k], kind) && number-- == 0) return true;
  }
  for (int64_t k = 0; k < own.head().outputs.count; ++k) {
    part = next_part(whole, whole.head().outputs, at);
    if (kind == Kind::results && number-- == 0) return true;
  }
  return false;
}

}  // namespace tap::library

using namespace tap::library;

extern "C" {

int32_t tap_library_join(const Program* program, Context** context, const int32_t* communicator,
                         const Options* options) {
  *context = new_context(*program);
  if (!*context) return static_cast<int32_t>(Status::no_memory);
  Message message;
  Status status = join(**context, communicator, threads_of(options), message);
  if (status == Status::done) status = take_part(**context, *program, message);
  return report(**context, status, message);
}

int32_t tap_library_start(Context* context, const TensorView* constants, const Options* options) {
  Message message;
  const Status status = start(*context, constants, options, message);
  if (status == Status::no_memory) message.add("out of memory");
  return report(*context, status, message);
}

int32_t tap_library_prepare_mpi(const Program* program, Context** context, const int32_t* communicator,
                                const TensorView* constants, const Options* options) {
  const int32_t status = tap_library_join(program, context, communicator, options);
  return status != 0 ? status : tap_library_start(*context, constants, options);
}

int64_t tap_library_part(const Program* program, int32_t kind, int64_t rank, int64_t ranks, int64_t number,
                         int64_t* bounds) {
  const auto which = static_cast<Kind>(kind);
  const ProcessProgram* process = process_of(*program, rank, ranks);
  Part part{};
  const bool is_alone = !process && rank == 0 && ranks == 1;
  const bool found = is_alone ? whole_part(*program, which, number, part)
                              : process && number >= 0 && part_of(*program, *process, which, number, part);
  if (!found) return -1;
  Reader whole(program->tables);
  const auto* tensors = whole.all<Tensor>(tensors_of(whole, which));
  const auto& extents = tensors[part.tensor].extents;
  for (int64_t axis = 0; bounds && axis < extents.count; ++axis) {
    bounds[2 * axis] = part.bounds ? part.bounds[2 * axis] : 0;
    bounds[2 * axis + 1] = part.bounds ? part.bounds[2 * axis + 1] : whole.words(extents.at)[axis];
  }
  int64_t place = 0;  // among the tensors of its kind
  for (int64_t k = 0; k < part.tensor; ++k) place += is_of(tensors[k], which);
  return place;
}
}
