#include "passes/simplify/share_equal_operations.h"

#include "ir/graph.h"
#include "passes/rebuild.h"

namespace tap::passes {

using namespace ir;

// f(x), f(x) → f(x)
PassResult share_equal_operations(const Program& program, const PassContext&) {
  return rewrite_graphs(program, [](Program& all, GraphId id, std::vector<Remark>&) {
    SharedPart part = shared_part(all, all[id]);
    Graph named = all[id];
    for (auto [kept, removed] : part.takes_name) named.values[kept.index()].name = all[id][removed].name;
    Rebuilt made{ir::rebuild(named, part.selection), claim_of_part(id, part.selection)};
    for (auto [kept, other] : part.equal) made.claim.equal.push_back({{{}, kept}, {{}, other}});
    return made;
  });
}

}  // namespace tap::passes
