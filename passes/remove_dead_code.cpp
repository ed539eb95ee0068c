#include "passes/remove_dead_code.h"

#include "passes/rebuild.h"

namespace tap::passes {

using namespace ir;

PassResult remove_dead_code(const Program& program, const PassContext&) {
  return rewrite_graphs(program, [](Program& all, GraphId id, std::vector<Remark>&) {
    Selection alive = alive_part(all[id]);
    return Rebuilt{ir::rebuild(all[id], alive), claim_of_part(id, alive)};
  });
}

}  // namespace tap::passes
