// What is known of the laws of monoids: in this process, and on disk beside compiled kernels, in $XDG_CACHE_HOME/tapc/laws
// or ~/.cache/tapc/laws. The folder is used under the same conditions as that of the kernels (backend/llvm/kernel_cache.h): it
// and its entries are the user's alone, and an entry is of this build and what was stored.
#pragma once

#include "compiler/driver/session.h"
#include "compiler/frontend/proofs/laws_memory.h"

namespace tap::driver {

LawMemory& law_memory();            // of this process and the disk
LawMemory& transient_law_memory();  // of this process alone
void show_law_warnings(const Session& session);

}  // namespace tap::driver
