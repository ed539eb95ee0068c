#include "passes/simplify/remove_dead_code.h"

#include "ir/graph.h"
#include "passes/rebuild.h"

namespace tap::passes {

using namespace ir;

PassResult remove_dead_code(const Program& program, const PassContext&) {
  return rewrite_graphs(program, [](Program& all, GraphId id, std::vector<Remark>& remarks) {
    Selection alive = alive_part(all[id]);
    for (const SplitRequest& split : all[id].splits)
      if (!alive.operations[split.operation.index()])
        remarks.push_back({"", all[id].name, name_of(all[id], split.operation),
                           "it is unused, so its split in the program is dropped, too", true});
    return Rebuilt{ir::rebuild(all[id], alive), claim_of_part(id, alive)};
  });
}

}  // namespace tap::passes
