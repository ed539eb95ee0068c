#include "tests/conformance_driver/compile_case.h"

#include "compiler/frontend/elaborate/compile.h"
#include "passes/simplify/inline_calls.h"
#include "support/diagnostic_render.h"
#include "tests/conformance_driver/kinds.h"

namespace tap::conformance {

ir::Program compile_case(const std::string& tap) {
  SourceMap sources;
  FileId file = sources.add("case.tap", tap);
  Diagnostics diagnostics;
  std::optional<Compiled> compiled = compile(sources, file, {}, diagnostics);
  if (!compiled) throw Untranslatable{render(diagnostics, sources, MessageFormat::human, false)};
  return passes::inline_calls(compiled->program, {}).program;
}

}  // namespace tap::conformance
