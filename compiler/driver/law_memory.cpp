#include "compiler/driver/law_memory.h"

#include "compiler/driver/stored_texts.h"

namespace tap::driver {

LawMemory& law_memory() {
  static StoredTexts folder({"laws", "law", "proved", "proofs"});
  static LawMemory memory(&folder);
  return memory;
}

LawMemory& transient_law_memory() {
  static LawMemory memory;
  return memory;
}

}  // namespace tap::driver
