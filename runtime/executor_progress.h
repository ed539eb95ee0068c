// What a process is doing, for the one that says so if it dies (distribution.h), and for a line with the time left.
#pragma once

#include "runtime/executor_tasks.h"

namespace tap::executor {

// A batch begins, whose tiles threads take in so many portions; one of them begins; messages are waited for.
void note_batch(const tables::Reader& tables, const Call& call, const tables::Batch& batch, int64_t portions);
void note_portion(const Call& call);
void note_exchange(const Call& call);
// A shard begins: the box of a call, on the device of the buffer that it writes. Of any thread.
void note_shard(const tables::Reader& tables, const Call& call, const tables::Task& task, const int64_t* box,
                int64_t dims, int64_t buffer);

}  // namespace tap::executor
