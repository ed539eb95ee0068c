// The laws that the text of a stage says its monoids have. Anybody can have written it, so they are found out again:
//
//   monoid m … laws proved proved proved unknown      of a - b: refused, with the numbers that show it
#pragma once

#include "compiler/driver/session.h"
#include "compiler/frontend/proofs/laws_memory.h"

namespace tap::driver {

// A law that the text claims and numbers break is a Failure; one that it calls proved and we cannot prove becomes assumed.
void settle_laws(const Session& session, FileId file, ir::Program& program, LawMemory& memory);

}  // namespace tap::driver
