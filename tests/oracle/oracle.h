// What a program means, evaluated from its syntax tree as `grammar/README.md` reads: a cell after the other, a reduction in
// increasing index, nothing rearranged, hoisted or proved. It shares the parser with the compiler and nothing else: no
// elaboration, no graph, no arithmetic. What it takes for granted is that the program is legal; where it notices otherwise
// (a cell written twice or never, a read outside) it says so, for then the proofs are wrong.
#pragma once

#include "tests/oracle/names.h"

namespace tap::oracle {

// Which program of a file, if it has several, and its dims, which come before those that the file declares.
struct Request {
  std::string program = {};
  std::map<std::string, std::int64_t> dims = {};
};
// The program's results. Throws Stop and Fault.
std::vector<Tensor> evaluate(const ast::Module& file, const ast::Module& library, const std::vector<Tensor>& inputs,
                             const Request& request = {});

}  // namespace tap::oracle
