// The front of the compiler: from a text to a legal graph. The text is a program in Tap or a stage, as `tapc opt`,
// `tapc inspect --format=ir` and --dump-after write it. A stage text is not trusted: its laws are decided and its accesses proved
// as for a program.
#pragma once

#include <optional>
#include <string_view>

#include "compiler/frontend/elaborate/compile.h"
#include "support/diagnostic.h"

namespace tap::pipeline {

struct Text {
  SourceMap* sources;
  FileId file;
  CompileOptions how = {};
  Diagnostics* diagnostics;  // receives every error and warning of a program
};

bool is_stage(std::string_view text);

// One of the two. Definitions are not yet analysed.
struct ParsedText {
  std::optional<ParsedFile> file;
  std::optional<ir::Program> stage;
};

// Text → syntax trees of the file and of the modules that it uses; or → the well-formed graph of a stage. Throws
// TextRejected for a program, Failure for a stage, with the first error only.
ParsedText parse(const Text& text);

// → a graph at the given sizes, with each access proved legal and each law of a monoid decided. Throws likewise.
Compiled build(ParsedText parsed, const Text& text);

}  // namespace tap::pipeline
