// Block graphs: their references are valid, and values, types and ranks match.
#include "ir/graph.h"
#include "ir/verify/well_formed_reader.h"

namespace tap::ir {

namespace {

class BlockReader : StageReader {
 public:
  BlockReader(const Program& program, const BlockGraph& blocks)
      : StageReader(program), blocks_(blocks), graph_(program[blocks.graph]) {}

  void run() {
    at(fmt::format("block graph {}", blocks_.graph.index()));
    std::vector<std::int64_t> devices = blocks_.devices;
    std::ranges::sort(devices);
    bool distinct = std::ranges::adjacent_find(devices) == devices.end() && (devices.empty() || devices[0] >= 0);
    need(distinct, "a device must have exactly one place");
    for (const Held& held : blocks_.held) {
      in_range(held.value, graph_.values);
      need(held.box.rank() == graph_[held.value].type.shape.size());
      row(held);
      on(held.device, held);
      inside(held);
    }
    inputs();
    need(blocks_.outputs.size() == graph_.outputs.size());
    for (std::size_t k = 0; k < graph_.outputs.size(); ++k) {
      need(!blocks_.outputs[k].empty(), "an output is missing");
      for (HeldId id : blocks_.outputs[k]) is(id, graph_.outputs[k]);
    }
    for (std::size_t t = 0; t < blocks_.tasks.size(); ++t) {
      at(fmt::format("block graph {}, task {}", blocks_.graph.index(), t));
      std::visit([this](const auto& task) { read(task); }, blocks_.tasks[t]);
    }
  }

 private:
  // An input is everywhere; a trip's state may be where, and in the boxes that, the previous trip leaves it.
  void inputs() const {
    std::size_t id = 0;
    for (std::size_t k = 0; k < graph_.inputs.size(); ++k) {
      std::vector<HeldId> held;
      for (; id < blocks_.inputs.size(); ++id) {
        in_range(blocks_.inputs[id], blocks_.held);
        if (blocks_[blocks_.inputs[id]].value != graph_.inputs[k]) break;
        held.push_back(blocks_.inputs[id]);
      }
      const bool whole = held.size() == 1 && blocks_[held[0]].device == everywhere && blocks_[held[0]].row.empty();
      need(whole || (is_repeated() && k < graph_.outputs.size() && k < blocks_.outputs.size()),
           "an input is not on all devices");
      need(whole || (!held.empty() && alike(held, blocks_.outputs[k])),
           "a trip leaves its state in a different buffer");
    }
    need(id == blocks_.inputs.size(), "a buffer holds the wrong value");
  }
  bool alike(const std::vector<HeldId>& before, const std::vector<HeldId>& after) const {
    return std::equal(before.begin(), before.end(), after.begin(), after.end(), [this](HeldId a, HeldId b) {
      in_range(b, blocks_.held);
      return blocks_[a].device == blocks_[b].device && blocks_[a].box == blocks_[b].box &&
             blocks_[a].row == blocks_[b].row;
    });
  }
  // Only used by iterates, if used at all.
  bool is_repeated() const {
    return std::all_of(p_.operators.begin(), p_.operators.end(),
                       [this](const Operator& op) {
                         return !op.region() || op.region()->graph != blocks_.graph ||
                                op.region()->kind == RegionKind::iterate;
                       }) &&
           blocks_.graph != p_.main;
  }
  // The first number after those of the box is a position in the list of devices.
  template <class T>
  void on(std::int64_t device, const T& first) const {
    const Range all = span(device, first.row, first.box.rank());
    bool inside = all.lo >= 0 && all.hi <= std::ssize(blocks_.devices);
    need(blocks_.devices.empty() || inside || (all.lo == everywhere && all.hi == everywhere + 1),
         "the device does not exist");
  }
  void inside(const Held& held) const {
    if (held.box.empty()) return;
    const Shape& shape = graph_[held.value].type.shape;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      const Range cells = held.box.dims[axis];
      const bool inside = span(cells.lo, held.row, axis).lo >= 0 &&
                          span(cells.hi, held.row, axis).hi <= checked::add(shape[axis], 1);
      need(inside, "a device holds cells outside the value");
    }
  }
  // From the least to past the greatest value of a number in a row.
  static Range span(std::int64_t first, const Row& row, std::size_t number) {
    Range all{first, checked::add(first, 1)};
    for (const Level& level : row) {
      const std::int64_t by = checked::mul(level.steps[number], level.count - 1);
      (by < 0 ? all.lo : all.hi) = checked::add(by < 0 ? all.lo : all.hi, by);
    }
    return all;
  }
  void is(HeldId id, ValueId value) const {
    in_range(id, blocks_.held);
    need(blocks_[id].value == value, "a buffer holds the wrong value");
  }
  template <class T>
  void are(const T& task, const std::vector<HeldMember>& members, const std::vector<ValueId>& values,
           std::size_t other) const {
    need(members.size() == values.size());
    for (std::size_t k = 0; k < members.size(); ++k) {
      in_range(members[k], blocks_.held, task, other + k);
      is(members[k].id, values[k]);
    }
  }
  void read(const Application& task) const {
    in_range(task.operation, graph_.operations);
    const Operation& operation = graph_[task.operation];
    const Operator& op = p_[operation.op];
    need(task.box.rank() == op.dims.size());
    row(task);
    on(task.device, task);
    need(!op.transfer(), "a transfer is applied");
    are(task, task.operands, operation.operands, 1);  // after the device
    are(task, task.results, operation.results, 1 + task.operands.size());
  }
  void read(const Move& move) const {
    in_range(move.operation, graph_.operations);
    const Operation& operation = graph_[move.operation];
    need(p_[operation.op].transfer(), "the moving operation is not a transfer");
    row(move);
    are(move, {move.from, move.to}, {operation.operands[0], operation.results[0]}, 0);
    need(blocks_[move.from.id].box.rank() == move.box.rank());
  }

  const BlockGraph& blocks_;
  const Graph& graph_;
};

}  // namespace

std::optional<std::string> ill_formed(const Program& program, const std::vector<BlockGraph>& blocks) {
  return first_fault([&] {
    if (blocks.size() != program.graphs.size()) throw IllFormedStage{"the numbers of block graphs and graphs differ"};
    for (std::size_t g = 0; g < blocks.size(); ++g) {
      if (blocks[g].graph != GraphId(g))
        throw IllFormedStage{fmt::format("block graph {} belongs to a different graph", g)};
      BlockReader(program, blocks[g]).run();
    }
  });
}

}  // namespace tap::ir
