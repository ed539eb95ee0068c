#include "passes/splits/expand.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "ir/block_program.h"
#include "ir/graph.h"
#include "ir/graphs/iterate_state.h"
#include "ir/shardings/device_assignment.h"
#include "passes/splits/rows_of_devices.h"
#include "support/check.h"
#include "support/checked.h"

namespace tap::passes {

using namespace ir;

namespace {

bool needs_everything(const Operator& op) { return op.region() && op.region()->kind != RegionKind::group; }

// By input of a graph, its placement if it is not everywhere.
using Inputs = std::vector<std::vector<Held>>;

class Expander {
 public:
  Expander(const Program& program, GraphId id, std::optional<std::int64_t> only, Inputs inputs)
      : program_(program),
        graph_(program[id]),
        only_(only),
        inputs_(std::move(inputs)),
        held_of_(graph_.values.size()) {
    inputs_.resize(graph_.inputs.size());
    result_.graph = id;
  }

  BlockGraph run() {
    for (std::size_t k = 0; k < graph_.inputs.size(); ++k) {
      const ValueId v = graph_.inputs[k];
      if (inputs_[k].empty()) inputs_[k].push_back({v, everywhere, Box::of_shape(graph_[v].type.shape)});
      for (const Held& held : inputs_[k]) result_.inputs.push_back(add_held(v, held.device, held.box));
    }
    for (std::size_t o = 0; o < graph_.operations.size(); ++o) expand(OperationId(o));
    for (ValueId v : graph_.outputs) {
      // A value without cells has no writer.
      if (held_of_[v.index()].empty()) add_held(v, everywhere, Box::of_shape(graph_[v].type.shape));
      result_.outputs.push_back(held_of_[v.index()]);
    }
    return std::move(result_);
  }

 private:
  void expand(OperationId o) {
    const Operation& operation = graph_[o];
    const Operator& op = program_[operation.op];
    const DeviceAssignment assignment(program_, operation);
    if (assignment.is_replicated())
      return op.transfer() ? move_to(o, everywhere, op.box()) : apply_on(o, everywhere, op.box());
    for (std::int64_t index = 0; index < assignment.count(); ++index) {
      std::int64_t device = assignment.device(index);
      std::optional<Box> box = assignment.box(op, index);
      if (!box) continue;
      if (op.transfer()) {
        if (is_selected(device)) move_to(o, device, *box);
      } else {
        apply_on(o, device, *box);
      }
    }
  }

  // For one device, the other devices' boxes are still known (moves come from there), but their tasks are not listed.
  bool is_selected(std::int64_t device) const { return !only_ || device == everywhere || device == *only_; }

  static bool has_no_block(const Operator& op, const Box& box) {
    for (std::size_t d = 0; d < box.rank(); ++d)
      if (op.dims[d].role == DimRole::parallel && box.dims[d].empty()) return true;
    return false;
  }

  void apply_on(OperationId o, std::int64_t device, const Box& box) {
    const Operation& operation = graph_[o];
    const Operator& op = program_[operation.op];
    Application common{o, device, {}, {}, {}};
    for (std::uint32_t k = 0; k < operation.operands.size(); ++k)
      common.operands.push_back(find(operation.operands[k], device));
    const bool idle = has_no_block(op, box);
    bool writes_all = true;
    for (std::uint32_t k = 0; k < operation.results.size(); ++k) {
      const Shape& shape = graph_[operation.results[k]].type.shape;
      // The one cell of a 0-d value is not written by an empty block, although every box of such a value contains it.
      if (idle && shape.empty()) {
        writes_all = false;
        continue;
      }
      Box written = needs_everything(op) ? Box::of_shape(shape) : written_region(op, k, box);
      common.results.push_back(add_held(operation.results[k], device, written));
    }
    if (!is_selected(device) || !writes_all) return;
    common.box = box;
    for (Task& task : applications(op, operation, std::move(common))) result_.tasks.push_back(std::move(task));
  }

  // The operand's box for a device: its own, or everywhere.
  HeldId find(ValueId v, std::int64_t device) {
    for (std::int64_t d : {device, everywhere})
      if (auto it = by_device_.find({v, d}); it != by_device_.end()) return it->second;
    // A value without cells may have no writer.
    return add_held(v, device, Box::of_shape(graph_[v].type.shape));
  }

  HeldId add_held(ValueId v, std::int64_t device, const Box& box) {
    HeldId id(result_.held.size());
    auto [it, fresh] = by_device_.try_emplace({v, device}, id);
    if (!fresh) {
      Box& held = result_.held[it->second.index()].box;
      held = hull(held, box);
      return it->second;
    }
    result_.held.push_back({v, device, box});
    held_of_[v.index()].push_back(id);
    return id;
  }

  // A device takes what it needs from itself if it can, else from the holders of each part in turn.
  void move_to(OperationId o, std::int64_t device, const Box& box) {
    const Operation& operation = graph_[o];
    const Operator& op = program_[operation.op];
    ValueId source = operation.operands[0];
    Box need = read_region(op, 0, box);
    HeldId to = add_held(operation.results[0], device, need);
    std::vector<Box> left = read_pieces(op, 0, box);
    auto take = [&](HeldId from) {
      std::vector<Move> moves;
      std::vector<Box> rest;
      for (const Box& part : left) {
        Box common = intersect(part, result_[from].box);
        if (!common.empty()) moves.push_back({o, from, to, common});
        for (Box& piece : subtract(part, result_[from].box)) rest.push_back(std::move(piece));
      }
      left = std::move(rest);
      return moves;
    };
    // Its own boxes are used in their turn among the others, so that all devices list the same order. Of several
    // holders of the same cells, it takes the one whose number among them equals its own number among the holders of
    // its box.
    auto own = by_device_.find({source, device});
    std::vector<Move> of_its_own;
    if (own != by_device_.end()) of_its_own = take(own->second);
    pieces(source);
    const auto found = own != by_device_.end() ? number_.find(own->second) : number_.end();
    const std::size_t number = found != number_.end() ? found->second
                                                      : static_cast<std::size_t>(std::max<std::int64_t>(device, 0));
    std::vector<Move> list;
    for (const std::vector<HeldId>* piece :
         pieces_near(source, need, of_its_own.empty() ? need : result_[own->second].box)) {
      const std::vector<HeldId>& holders = *piece;
      const bool is_own = !of_its_own.empty() && result_[holders[0]].box == result_[own->second].box;
      std::vector<Move> moves = is_own ? std::exchange(of_its_own, {}) : std::vector<Move>();
      if (!is_own && left.empty() && of_its_own.empty()) break;
      if (!is_own && !left.empty() && !disjoint(result_[holders[0]].box, need))
        moves = take(holders[number % holders.size()]);
      for (Move& move : moves) list.push_back(std::move(move));
    }
    if (!only_)  // only rows of what all send to each other are kept
      for (Move& move : list) move.from = numbered(source, move.from.id);
    for (Move& move : only_ ? std::move(list) : in_rows(std::move(list))) result_.tasks.emplace_back(std::move(move));
    TAP_CHECK(left.empty() && of_its_own.empty(), "no device holds a part of a transfer");
  }

  HeldMember numbered(ValueId v, HeldId id) {
    auto [it, fresh] = members_.try_emplace(v);
    if (fresh) it->second = numbers_in_rows(program_, result_, held_of_[v.index()]);
    auto known = it->second.find(id);
    return known == it->second.end() ? HeldMember(id) : known->second;
  }

  // The holders of a value by box: several may hold the same one.
  const std::vector<std::vector<HeldId>>& pieces(ValueId v) {
    auto [it, fresh] = pieces_.try_emplace(v);
    if (!fresh) return it->second;
    std::map<std::vector<std::pair<std::int64_t, std::int64_t>>, std::size_t> seen;
    for (HeldId id : held_of_[v.index()]) {
      if (result_[id].box.empty()) continue;
      std::vector<std::pair<std::int64_t, std::int64_t>> key;
      for (Range r : result_[id].box.dims) key.emplace_back(r.lo, r.hi);
      auto [at, new_piece] = seen.emplace(std::move(key), it->second.size());
      if (new_piece) it->second.emplace_back();
      number_[id] = it->second[at->second].size();
      it->second[at->second].push_back(id);
    }
    return it->second;
  }

  // Those that may meet `need`, or begin where `own` does, in their order. Many devices each hold one, so that looking at all
  // for each device would take the square of their number.
  std::vector<const std::vector<HeldId>*> pieces_near(ValueId v, const Box& need, const Box& own) {
    const std::vector<std::vector<HeldId>>& all = pieces(v);
    auto [it, fresh] = begins_.try_emplace(v);
    Begins& begins = it->second;
    if (fresh) begins = begins_of(all);
    std::vector<std::size_t> near;
    for (auto [from, end] : {std::pair(need, need), {own, own}}) {
      if (from.rank() == 0) continue;
      const std::int64_t lo = checked::sub(from.dims[begins.dim].lo, begins.longest);
      auto at = std::lower_bound(begins.at.begin(), begins.at.end(), std::pair(lo, std::size_t{0}));
      for (; at != begins.at.end() && at->first <= end.dims[begins.dim].hi; ++at) near.push_back(at->second);
    }
    if (need.rank() == 0)
      for (std::size_t k = 0; k < all.size(); ++k) near.push_back(k);
    std::sort(near.begin(), near.end());
    near.erase(std::unique(near.begin(), near.end()), near.end());
    std::vector<const std::vector<HeldId>*> found;
    for (std::size_t k : near) found.push_back(&all[k]);
    return found;
  }

  // Pieces by where they begin, along the dim in which most begin at different places.
  struct Begins {
    std::size_t dim = 0;
    std::int64_t longest = 0;
    std::vector<std::pair<std::int64_t, std::size_t>> at;
  };
  Begins begins_of(const std::vector<std::vector<HeldId>>& pieces) const {
    Begins found;
    std::size_t most = 0;
    for (std::size_t d = 0; !pieces.empty() && d < result_[pieces[0][0]].box.rank(); ++d) {
      std::set<std::int64_t> starts;
      for (const auto& holders : pieces) starts.insert(result_[holders[0]].box.dims[d].lo);
      if (starts.size() > most) most = starts.size(), found.dim = d;
    }
    if (most == 0) return found;
    for (std::size_t k = 0; k < pieces.size(); ++k) {
      const Range& range = result_[pieces[k][0]].box.dims[found.dim];
      found.at.emplace_back(range.lo, k);
      found.longest = std::max(found.longest, range.size());
    }
    std::sort(found.at.begin(), found.at.end());
    return found;
  }

  const Program& program_;
  const Graph& graph_;
  std::optional<std::int64_t> only_;
  Inputs inputs_;
  BlockGraph result_;
  std::vector<std::vector<HeldId>> held_of_;  // by value
  std::map<std::pair<ValueId, std::int64_t>, HeldId> by_device_;
  std::map<ValueId, std::vector<std::vector<HeldId>>> pieces_;
  std::map<ValueId, Begins> begins_;
  std::map<HeldId, std::size_t> number_;  // among the holders of the same box
  std::map<ValueId, std::map<HeldId, HeldMember>> members_;
};

// A trip's state is where the previous trip leaves it, whatever its initial placement.
Inputs inputs_after_trip(const Program& program, const BlockGraph& blocks) {
  const Graph& graph = program[blocks.graph];
  const std::vector<ValueId> left = trip_results(program, blocks.graph);
  Inputs inputs(graph.inputs.size());
  for (std::size_t k = 0; k < graph.inputs.size(); ++k) {
    const ValueId after = left[graph.inputs[k].index()];
    if (after == graph.inputs[k]) continue;
    for (HeldId held : blocks.outputs[k]) inputs[k].push_back(blocks[held]);
    if (std::any_of(inputs[k].begin(), inputs[k].end(), [](const Held& held) { return held.device == everywhere; }))
      inputs[k].clear();
  }
  return inputs;
}

BlockGraph expand(const Program& program, GraphId id, std::optional<std::int64_t> only) {
  BlockGraph blocks = Expander(program, id, only, {}).run();
  Inputs inputs = inputs_after_trip(program, blocks);
  const bool has_placed_inputs =
      std::any_of(inputs.begin(), inputs.end(), [](const auto& held) { return !held.empty(); });
  return has_placed_inputs ? Expander(program, id, only, std::move(inputs)).run() : blocks;
}

}  // namespace

BlockGraph without_tasks(const Program& program, GraphId id) {
  const Graph& graph = program[id];
  BlockGraph blocks;
  blocks.graph = id;
  auto whole = [&](ValueId v) {
    auto known =
        std::find_if(blocks.held.begin(), blocks.held.end(), [v](const Held& held) { return held.value == v; });
    const HeldId id(known - blocks.held.begin());
    if (known == blocks.held.end()) blocks.held.push_back({v, everywhere, Box::of_shape(graph[v].type.shape)});
    return id;
  };
  for (ValueId v : graph.inputs) blocks.inputs.push_back(whole(v));
  for (ValueId v : graph.outputs) blocks.outputs.push_back({whole(v)});
  return blocks;
}

BlockProgram expand(const Program& program, std::optional<std::int64_t> only) {
  BlockProgram result{program, {}};
  const std::vector<bool> never = never_run(program);
  for (std::size_t g = 0; g < program.graphs.size(); ++g)
    if (never[g]) result.graphs.push_back(without_tasks(program, GraphId(g)));
    else if (only) result.graphs.push_back(expand(program, GraphId(g), only));
    else result.graphs.push_back(in_rows_of_devices(program, expand(program, GraphId(g), only)));
  return result;
}

}  // namespace tap::passes
