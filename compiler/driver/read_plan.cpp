#include "compiler/driver/read_plan.h"

#include <fmt/format.h>

#include "compiler/driver/read_source.h"

namespace tap::driver {

ir::Plan read_plan(Session& session, const std::string& path) {
  if (path.empty()) return {};
  FileId file = read_source(session, path);
  auto parsed = ir::parse_plan(session.sources.file(file).text());
  if (auto* error = std::get_if<ir::TextError>(&parsed))
    throw Failure{exit_code::wrong_program, Diagnostic(Code::plan_not_applicable, Span{file, 0, 0},
                                                       fmt::format("line {}: {}", error->line, error->message))};
  return std::get<ir::Plan>(std::move(parsed));
}

}  // namespace tap::driver
