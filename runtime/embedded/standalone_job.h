// A standalone program in an MPI job: each process reads the boxes of the inputs that its devices read, and writes its boxes of
// the results into files that the first process makes and renames.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/embedded/standalone_files.h"
#include "runtime/library_context.h"
#include "runtime/supervise.h"

namespace {

struct JobState {
  library::Context* context = nullptr;
  executor::Progress* progress = nullptr;  // for the process that waits for this one
  bool is_job = false;
  bool differs = false;  // from now on processes differ: each reports its own errors
  int64_t rank() const { return context && context->job.mpi ? context->job.rank() : 0; }
};
JobState job_state;

// Whether another process reports the same.
bool is_quiet() {
  const char* launched = executor::launched_as();
  return job_state.is_job && !job_state.differs && launched && strcmp(launched, "0") != 0;
}

bool may_report() {
  if (is_quiet()) return false;
  if (job_state.differs) fprintf(stderr, "process %lld of the job: ", static_cast<long long>(job_state.rank()));
  return true;
}

// Launchers end all processes when one aborts. They may drop what was written immediately before, and may hang when several abort at
// once, so each waits to be ended by an earlier one's.
[[noreturn]] void end_with(int code) {
  fflush(stdout);
  if (job_state.progress) job_state.progress->activity = executor::Activity::ended;
  if (job_state.context && job_state.context->job.mpi) {
    const int64_t rank = job_state.rank();
    usleep(static_cast<useconds_t>(100'000 + (rank < 4 ? rank : 4) * 400'000));
    job_state.context->job.mpi->abort(job_state.context->job.job, code);
  }
  // The launcher ends the process that reports when another one has ended.
  if (is_quiet()) usleep(500'000);
  exit(code);
}

// A part of a tensor as it lies in a file: without axes along which the whole is taken, innermost last.
struct Runs {
  int64_t rank = 0;
  int64_t extents[max_index_dims], lo[max_index_dims], counts[max_index_dims];
};
// `fortran_order`: the first axis is the innermost one.
Runs runs_of(const Reader& tables, const Tensor& tensor, const int64_t* bounds, bool fortran_order) {
  Runs runs;
  runs.rank = tensor.extents.count;
  for (int64_t axis = 0; axis < runs.rank; ++axis) {
    const int64_t at = fortran_order ? runs.rank - 1 - axis : axis;
    runs.extents[axis] = tables.words(tensor.extents.at)[at];
    runs.lo[axis] = bounds[2 * at];
    runs.counts[axis] = bounds[2 * at + 1] - bounds[2 * at];
  }
  return runs;
}

// Calls `each(place in the file, place in the part, count)`, in cells, for cells that follow one another in both, until it fails.
template <class Each>
bool for_each_run(const Runs& runs, const Each& each) {
  int64_t outer = runs.rank, count = 1;
  for (int64_t axis = 0; axis < runs.rank; ++axis)
    if (runs.counts[axis] == 0) return true;
  while (outer > 0) {
    --outer;
    count *= runs.counts[outer];
    if (runs.counts[outer] != runs.extents[outer]) break;
  }
  int64_t at[max_index_dims] = {}, in_part = 0;
  while (true) {
    int64_t in_file = 0;
    for (int64_t axis = 0; axis < runs.rank; ++axis)
      in_file = in_file * runs.extents[axis] + runs.lo[axis] + (axis < outer ? at[axis] : 0);
    if (!each(in_file, in_part, count)) return false;
    in_part += count;
    int64_t axis = outer - 1;
    while (axis >= 0 && ++at[axis] == runs.counts[axis]) at[axis--] = 0;
    if (axis < 0) return true;
  }
}

int64_t cells_of(const Runs& runs) {
  int64_t cells = 1;
  for (int64_t axis = 0; axis < runs.rank; ++axis) cells *= runs.counts[axis];
  return cells;
}

// All of the bytes, or an errno; ENODATA: the file is too short.
template <class Move>
int move_all(const Move& move, char* cells, int64_t bytes, int64_t at) {
  while (bytes > 0) {
    const ssize_t moved = move(cells, static_cast<size_t>(bytes), static_cast<off_t>(at));
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return moved < 0 ? errno : ENODATA;
    cells += moved;
    at += moved;
    bytes -= moved;
  }
  return 0;
}

// The box of a file's tensor. The header was checked; the file has the size that it says.
library::TensorView read_part(const Reader& tables, const Slot& slot, FILE* file, const int64_t* bounds) {
  const Runs runs = runs_of(tables, *slot.tensor, bounds, slot.fortran_order);
  const int64_t size = slot.tensor->element_bytes;
  library::TensorView view{room_for<char>(cells_of(runs) * size), nullptr};
  auto* cells = static_cast<char*>(view.data);
  const int descriptor = fileno(file);
  const bool whole = for_each_run(runs, [&](int64_t in_file, int64_t in_part, int64_t count) {
    auto move = [&](char* to, size_t bytes, off_t at) { return ::pread(descriptor, to, bytes, at); };
    return move_all(move, cells + in_part * size, count * size, slot.begins + in_file * size) == 0;
  });
  if (!whole) stop(wrong_data, "`", slot.path, "` has too few cells");
  if (!slot.fortran_order) return view;
  int64_t extents[max_index_dims];
  for (int64_t axis = 0; axis < runs.rank; ++axis) extents[axis] = bounds[2 * axis + 1] - bounds[2 * axis];
  view.strides = fortran_strides(extents, runs.rank);
  return view;
}

// The parts of this process, of one kind, in order.
struct OwnParts {
  library::TensorView* views;
  library::Part* parts;
  int64_t count;
};
OwnParts own_parts(const library::ProcessProgram& process, library::Kind kind) {
  OwnParts own{};
  library::Part part{};
  while (library::part_of(tap_library_program, process, kind, own.count, part)) ++own.count;
  own.views = room_for<library::TensorView>(own.count);
  own.parts = room_for<library::Part>(own.count);
  for (int64_t k = 0; k < own.count; ++k) library::part_of(tap_library_program, process, kind, k, own.parts[k]);
  return own;
}

OwnParts read_parts(const Reader& tables, const Slots& inputs, const library::ProcessProgram& process,
                    library::Kind kind) {
  OwnParts own = own_parts(process, kind);
  for (int64_t k = 0; k < own.count; ++k) {
    Slot& slot = inputs.all[own.parts[k].tensor];
    FILE* file = open_cells(tables, slot);
    struct stat info;
    const int64_t end = slot.begins + bytes_of(tables, *slot.tensor);
    if (fstat(fileno(file), &info) != 0) stop(no_resource, slot.path, " cannot be read: ", strerror(errno));
    if (info.st_size < end) stop(wrong_data, "`", slot.path, "` has too few cells");
    if (info.st_size > end) stop(wrong_data, "`", slot.path, "` has data after its last cell");
    own.views[k] = read_part(tables, slot, file, own.parts[k].bounds);
    fclose(file);
  }
  return own;
}

// Messages between two processes, complete when they return.
struct Mail {
  executor::Messages messages;
  void require(bool failed) const {
    failed |= messages.wait(messages.self) != 0;
    if (failed) stop(run_time, "a message of another process did not arrive", "", "");
  }
  void send(int64_t to, const void* data, int64_t bytes) const {
    require(messages.send(messages.self, to, data, bytes) != 0);
  }
  void receive(int64_t from, void* data, int64_t bytes) const {
    require(messages.receive(messages.self, from, data, bytes) != 0);
  }
};

// Of the results with files: the own boxes. An errno; ENOENT, too, if the file is another one than the first process made.
int write_parts(const Reader& tables, const Slots& results, const OwnParts& own, int64_t result) {
  const Slot& slot = results.all[result];
  const int descriptor = ::open(slot.unfinished, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return errno;
  struct stat info;
  int error = ::fstat(descriptor, &info) != 0 ? errno : 0;
  if (error == 0 && info.st_size != slot.begins + bytes_of(tables, *slot.tensor)) error = ENOENT;
  const int64_t size = slot.tensor->element_bytes;
  for (int64_t k = 0; k < own.count && error == 0; ++k) {
    if (own.parts[k].tensor != result) continue;
    auto* cells = static_cast<char*>(own.views[k].data);
    for_each_run(runs_of(tables, *slot.tensor, own.parts[k].bounds, false), [&](int64_t in_file, int64_t in_part,
                                                                                int64_t count) {
      auto move = [&](char* from, size_t bytes, off_t at) { return ::pwrite(descriptor, from, bytes, at); };
      error = move_all(move, cells + in_part * size, count * size, slot.begins + in_file * size);
      return error == 0;
    });
  }
  if (error == 0 && ::fsync(descriptor) != 0 && errno != EINVAL) error = errno;
  if (::close(descriptor) != 0 && error == 0) error = errno;
  return error;
}

constexpr int64_t longest_path = 4096;

// In all processes, with what is written under its final name when the first process returns.
void write_shared(const Reader& tables, const Slots& results, const OwnParts& own, const Mail& mail, int64_t rank,
                  int64_t ranks) {
  int64_t ready = 1;  // nothing is written before all have computed their parts
  for (int64_t other = 1; other < ranks && rank == 0; ++other) mail.receive(other, &ready, sizeof ready);
  if (rank == 0) write_all(tables, results);  // without cells
  else mail.send(0, &ready, sizeof ready);
  int64_t troubles[2] = {-1, 0};  // the result, and why it cannot be written
  for (int64_t k = 0; k < results.count; ++k) {
    Slot& slot = results.all[k];
    if (!slot.path) continue;
    char name[longest_path] = {};
    if (rank == 0) snprintf(name, sizeof name, "%s", slot.unfinished);
    for (int64_t other = 1; other < ranks && rank == 0; ++other) {
      mail.send(other, name, sizeof name);
      mail.send(other, &slot.begins, sizeof slot.begins);
    }
    if (rank != 0) {
      mail.receive(0, name, sizeof name);
      mail.receive(0, &slot.begins, sizeof slot.begins);
      slot.unfinished = name;
    }
    const int error = troubles[0] < 0 ? write_parts(tables, results, own, k) : 0;
    if (error != 0) troubles[0] = k, troubles[1] = error;
    if (rank != 0) slot.unfinished = nullptr;  // it is the first process's
  }
  int64_t process = 0;
  for (int64_t other = 1; other < ranks && rank == 0; ++other) {
    int64_t its[2];
    mail.receive(other, its, sizeof its);
    if (troubles[0] < 0 && its[0] >= 0) memcpy(troubles, its, sizeof its), process = other;
  }
  if (rank != 0) mail.send(0, troubles, sizeof troubles);
  if (rank == 0 && troubles[0] >= 0) {
    char why[256];
    snprintf(why, sizeof why, "%s (process %lld)", strerror(static_cast<int>(troubles[1])),
             static_cast<long long>(process));
    cannot_write(results, results.all[troubles[0]].path, why);
  }
  if (rank == 0) rename_all(results);
  int64_t done = 1;  // the others leave when the files are there
  for (int64_t other = 1; other < ranks && rank == 0; ++other) mail.send(other, &done, sizeof done);
  if (rank != 0) mail.receive(0, &done, sizeof done);
}

}  // namespace
