// `tapc run --keep DIR` and `--resume`: what tasks have computed is kept in a folder as they end, and a later run of the same
// program on the same inputs computes only what is missing there, to the same bits.
//
//   KeptRun kept(session, options);
//   … an Executable with kept.keeper() …
//   kept.start(executable, key_of(…), host);      in all processes
//   executable.run(inputs, results);
//   kept.finish();                                in all processes
//
// One result is what one call of a kernel writes: a shard, or a block of one. Of an iterate, the states after every
// sixteenth part of its trips are one result: the processes of a job continue together with the last one that all have.
// Copies and messages are not kept. So whatever subset of results is there, the run is right.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/llvm/executable.h"
#include "backend/schedule/schedule.h"
#include "compiler/driver/keep/keep_options.h"
#include "compiler/driver/keep/kept_folder.h"
#include "compiler/driver/session.h"
#include "runtime/keeper.h"
#include "support/diagnostic.h"

namespace tap::driver {

class MpiHost;

class KeptRun {
 public:
  // Throws Failure, exit 4, if the folder cannot be used.
  KeptRun(const Session& session, const KeepOptions& options);
  KeptRun(const KeptRun&) = delete;
  KeptRun& operator=(const KeptRun&) = delete;

  const executor::Keeper* keeper() const { return &keeper_; }
  // `key` is the hash of everything that the results of this process depend on. The executable must outlive the run.
  void start(const backend::Executable& executable, const backend::Digest& key, const MpiHost* host);
  // Says what was kept. Throws Failure if a result was changed while it was read.
  void finish();

 private:
  struct Call {
    std::vector<KeptPart> parts;  // of buffers; empty: it is not kept
    backend::Digest name = {};
    bool restored = false;
    std::int64_t tiles_left = 0;  // atomic
  };
  struct Counts {
    std::int64_t restored = 0, computed = 0;
    std::int64_t first_trip = 0, trips = 0;  // of the last iterate that was continued
  };

  static void begin(void* self, std::int64_t batch, void* const* addresses);
  static bool wanted(void* self, std::int64_t task, std::int64_t call);
  static void computed(void* self, std::int64_t task, std::int64_t call, std::int64_t tiles);
  static std::int64_t begin_trips(void* self, std::int64_t batch, void* const* addresses);
  static void trip(void* self, std::int64_t batch, std::int64_t next, void* const* addresses);

  void begin_batch(std::size_t batch, void* const* addresses);
  const ir::Iteration& iteration_of(std::int64_t batch) const;
  std::int64_t continued(std::int64_t batch, void* const* addresses);
  std::int64_t least_of_all(std::int64_t own) const;
  backend::Digest name_of(std::string_view kind, std::size_t batch, std::int64_t first, std::int64_t second) const;
  bool restore(const backend::Digest& name, const std::vector<KeptPart>& parts);
  bool has(const backend::Digest& name, const std::vector<KeptPart>& parts);
  void store(const backend::Digest& name, const std::vector<KeptPart>& parts);
  void reject(const backend::Digest& name, const std::string& problem);
  Counts all_counts() const;

  const Session& session_;
  const bool resume_;
  KeptFolder folder_;
  const bool was_empty_;
  executor::Keeper keeper_;
  const backend::Executable* executable_ = nullptr;
  const MpiHost* host_ = nullptr;
  backend::Digest key_ = {};
  backend::EncodedSchedule schedule_;
  std::vector<std::vector<Call>> batch_;  // by task and number of the call: the batch that runs
  Counts counts_;
  std::int64_t rejected_ = 0;
  std::mutex storing_;
  std::optional<int> full_;  // why results of this run are no longer kept
  std::optional<Failure> failure_;
};

}  // namespace tap::driver
