#include "ir/verify/verify.h"

#include "ir/graph.h"
#include "ir/verify/verify_parts.h"

namespace tap::ir {

std::vector<std::string> verify(const Program& program) {
  using namespace verifying;
  Violations out;
  verify_monoids(out, program);
  verify_meshes(out, program);

  std::vector<bool> sound;  // operators: each is verified once, however many operations use it
  for (std::size_t i = 0; i < program.operators.size(); ++i) {
    const Operator& op = program.operators[i];
    Violations::Scope at(out, "operator {} ({})", i, op.name);
    std::size_t before = out.count();
    verify_operator(out, program, op);
    sound.push_back(out.count() == before);
  }
  for (std::size_t g = 0; g < program.graphs.size(); ++g) {
    Violations::Scope at(out, "graph {} ({})", g, program.graphs[g].name);
    verify_graph(out, program, program.graphs[g], sound);
  }
  if (program.graphs.empty()) out.expect(!program.main.valid(), "the main graph is not in the table");
  else out.expect(valid(program.main, program.graphs), "the main graph is not in the table");

  if (out.count() == 0) verify_nesting(out, program);  // it follows every reference
  return out.take();
}

}  // namespace tap::ir
