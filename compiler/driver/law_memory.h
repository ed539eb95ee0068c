// Known laws of monoids: in memory, and on disk in the folder `laws` (stored_texts.h).
#pragma once

#include "compiler/frontend/proofs/laws_memory.h"

namespace tap::driver {

LawMemory& law_memory();            // of this process and the disk
LawMemory& transient_law_memory();  // of this process alone

}  // namespace tap::driver
