// Known laws of monoids: in memory, and on disk in the folder `laws` (stored_texts.h).
#pragma once

#include "compiler/frontend/proofs/laws_memory.h"

namespace tap::driver {

LawMemory& law_memory();            // in this process and on disk
LawMemory& transient_law_memory();  // in this process only

}  // namespace tap::driver
