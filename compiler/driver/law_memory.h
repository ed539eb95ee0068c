// Known laws of monoids: in memory, and on disk beside compiled kernels, in $XDG_CACHE_HOME/tapc/laws or
// ~/.cache/tapc/laws. The folder must meet the same conditions as that of the kernels (backend/llvm/kernel_cache.h):
// only the user can write to it and its entries, and an entry is used only if this build wrote it and it is
// unchanged.
#pragma once

#include "compiler/driver/session.h"
#include "compiler/frontend/proofs/laws_memory.h"

namespace tap::driver {

LawMemory& law_memory();            // of this process and the disk
LawMemory& transient_law_memory();  // of this process alone
void show_law_warnings(const Session& session);

}  // namespace tap::driver
