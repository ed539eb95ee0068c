#include "compiler/driver/show/sharding_moves.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "compiler/driver/show/written_operations.h"
#include "support/byte_size.h"

namespace tap::driver {

namespace {

std::string line_of(const Session& session, const std::string& operation) {
  const Span span = called_at(session.operations, operation);
  if (!span.valid()) return "";
  const SourceFile& file = session.sources.file(span.file);
  return fmt::format("{}:{}", file.path(), file.position(span.begin).line);
}

std::string text_for(const passes::Move& move) {
  if (!move.moved_for.empty()) return "as for " + move.moved_for;
  return bytes_text(move) + (move.implicit ? ", implicit" : "");
}

}  // namespace

std::string bytes_text(const passes::Move& move) {
  const std::string bytes = byte_size(static_cast<double>(move.bytes));
  return move.times == 1 ? bytes : fmt::format("{} in each of {} trips", bytes, move.times);
}

std::string list_moves(const Session& session, const std::vector<passes::Move>& moves) {
  std::size_t wide = 0, wider = 0, widest = 0;
  for (const passes::Move& move : moves) {
    wide = std::max(wide, move.what.size());
    wider = std::max(wider, move.step.size());
    widest = std::max(widest, text_for(move).size());
  }
  std::string text;
  for (const passes::Move& move : moves) {
    const std::string line = line_of(session, move.operation);
    text += fmt::format("{:{}}  {:{}}  {:{}}", move.what, wide, move.step, wider, text_for(move),
                        line.empty() ? 0 : widest + 2);
    text += line + "\n";
  }
  return text + fmt::format("{}{} per device\n", text.empty() ? "" : "\n", byte_size(bytes_of_all(moves)));
}

std::string moves_about(const Session& session, std::vector<passes::Move> moves, const std::string& name) {
  std::erase_if(moves, [&](const passes::Move& move) {
    return move.operation != name || (move.bytes == 0 && move.moved_for.empty());
  });
  if (moves.empty()) return "";
  std::string text = "  moved:\n";
  std::istringstream lines(list_moves(session, moves));
  for (std::string line; std::getline(lines, line);) text += line.empty() ? "" : "    " + line + "\n";
  return text;
}

std::vector<std::string> lines_of_moves(const std::vector<passes::Move>& moves) {
  std::vector<std::string> lines;
  for (const passes::Move& move : moves)
    if (move.bytes > 0 || !move.moved_for.empty())
      lines.push_back(fmt::format("{}  {}  {}", move.what, move.step, text_for(move)));
  return lines;
}

}  // namespace tap::driver
