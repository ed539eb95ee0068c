// The text form of the graph on any bytes: the parser ends with a program or with one message and its line; a program
// prints, parses back and is equal, whether or not it is well formed. The verifier ends on all of them, and what it
// accepts can be shown to people.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "ir/graph.h"
#include "ir/text.h"
#include "ir/verify/verify.h"

namespace {

using namespace tap::ir;

[[noreturn]] void stop(const char* what, const std::string& detail) {
  std::fprintf(stderr, "%s\n%s\n", what, detail.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto parsed = parse_program({reinterpret_cast<const char*>(data), size});
  if (auto* error = std::get_if<TextError>(&parsed)) {
    if (error->message.empty()) stop("refused without a message", "");
    return 0;
  }
  const Program& program = std::get<Program>(parsed);
  std::string printed = print(program);
  auto again = parse_program(printed);
  if (auto* error = std::get_if<TextError>(&again))
    stop("what was printed does not parse", std::to_string(error->line) + ": " + error->message + "\n" + printed);
  if (!(std::get<Program>(again) == program)) stop("printing changed the program", printed);
  if (!verify(program).empty()) return 0;
  for (const Operator& op : program.operators)
    if (print(program, op).empty()) stop("an operator without a text", printed);
  for (const Graph& graph : program.graphs)
    if (print(program, graph).empty()) stop("a graph without a text", printed);
  return 0;
}
