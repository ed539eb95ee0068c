#include "compiler/driver/read_plan.h"

#include <fmt/format.h>

#include "compiler/driver/read_source.h"

namespace tap::driver {

ir::Plan read_plan(Session& session, const std::string& path) {
  if (path.empty()) return {};
  FileId file = read_source(session, path);
  std::string_view text = session.sources.file(file).text();
  auto parsed = ir::parse_plan(text);
  if (auto* error = std::get_if<ir::TextError>(&parsed)) {
    std::size_t begin = 0;
    for (std::size_t line = 1; line < error->line && begin < text.size(); ++line)
      begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
    auto at = static_cast<std::uint32_t>(begin);
    throw Failure{exit_code::wrong_program, Diagnostic(Code::plan_not_applicable, Span{file, at, at}, error->message)};
  }
  return std::get<ir::Plan>(std::move(parsed));
}

}  // namespace tap::driver
