// FILE of a command: a program in Tap, or the text of a stage, as `tapc inspect`, `tapc opt` and --dump-after write it.
#pragma once

#include "compiler/driver/compile_file.h"
#include "compiler/frontend/proofs/laws_memory.h"
#include "ir/graph.h"

namespace tap::driver {

bool is_stage(std::string_view text);

// Throws Failure, exit 1, where the text is no stage, or a malformed one.
ir::Program read_stage(const Session& session, FileId file, LawMemory& laws);

// Compiles the file, or reads the stage, whose results are named as its outputs are.
Compiled compile_or_read(Session& session, FileId file, const CompileOptions& options);

// For a command that needs source text. Throws Failure, exit 2, for a stage.
void require_source(const Session& session, FileId file);

}  // namespace tap::driver
