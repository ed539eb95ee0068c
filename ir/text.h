// The text form of a Program: prints, parses back, compares.  parse_program(print(p)) == p
#pragma once

#include <string>
#include <variant>

#include "ir/graph_ids.h"
#include "ir/operator.h"

namespace tap::ir {

std::string print(const Program& program);
std::string print(const Program& program, const Graph& graph);
std::string print(const Program& program, const Operator& op);  // readable: dims, reads, writes, body
std::string print_cell(const Operator& op, CellId cell);        // max(x[i], 0)

struct TextError {
  std::size_t line = 0;
  std::string message;
  std::size_t column = 0;  // bytes before the position in its line
};
std::variant<Program, TextError> parse_program(std::string_view text);

}  // namespace tap::ir
