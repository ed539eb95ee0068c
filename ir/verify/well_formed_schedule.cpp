// Schedules: their references are valid, types and ranks match, iterates are nested as in the program, and calls have
// the tiles of their kernels.
#include "ir/graph.h"
#include "ir/verify/well_formed_reader.h"

namespace tap::ir {

namespace {

class ScheduleReader : StageReader {
 public:
  ScheduleReader(const Program& program, const Schedule& schedule) : StageReader(program), s_(schedule) {}

  void run() {
    at("the schedule");
    types(s_.inputs, main_.inputs);
    for (std::size_t k = 0; k < s_.inputs.size(); ++k) {
      need(s_.inputs[k].constant == main_[main_.inputs[k]].is_const,
           "an input is const in the schedule or in its program, but not in both");
      need(s_.inputs[k].name == main_[main_.inputs[k]].name, "the names of an input differ");
    }
    types(s_.outputs, main_.outputs);
    for (const ProgramTensor& output : s_.outputs) need(!output.constant, "an output is const");
    need(s_.kernel_of.size() == p_.operators.size() && s_.prepared.size() == p_.operators.size());
    need(!s_.sequences.empty() && (!s_.preparation || *s_.preparation < s_.sequences.size()));
    kernels();
    for (std::size_t b = 0; b < s_.buffers.size(); ++b) {
      at(fmt::format("b{}", b));
      check_buffer(s_.buffers[b]);
    }
    for (std::size_t o = 0; o < s_.operations.size(); ++o) {
      at(fmt::format("operation {} of the schedule", o));
      op_.push_back(operation(s_.operations[o].what));
      texts(s_.operations[o]);
    }
    at("the operations of the schedule");
    listed_in_order();
    for (sequence_ = 0; sequence_ < s_.sequences.size(); ++sequence_)
      for (std::size_t b = 0; b < s_.sequences[sequence_].size(); ++b) {
        const Batch& batch = s_.sequences[sequence_][b];
        at(fmt::format("sequence {}, batch {}", sequence_, b));
        need(!batch.empty(), "it has no tasks");
        for (std::size_t t = 0; t < batch.size(); ++t) {
          at(fmt::format("sequence {}, batch {}, task {}", sequence_, b, t));
          need(batch[t].tiles > 0 && batch[t].tiles <= most_parts(batch[t]), "it has invalid parts");
          need(batch.size() == 1 || !std::holds_alternative<Iteration>(batch[t].what), "an iterate shares its batch");
          if (sequence_ == s_.preparation) prepare(batch[t]);
          else std::visit([this](const auto& what) { read(what); }, batch[t].what);
        }
      }
    read_memory(p_, s_);
  }

 private:
  void kernels() {
    for (const auto& kernel : s_.kernel_of) need(!kernel || *kernel < s_.kernels.size());
    for (std::size_t o = 0; o < s_.prepared.size(); ++o)
      for (const Preparation& how : s_.prepared[o]) {
        at(fmt::format("operand {} of operator {}, prepared", how.operand, o));
        need(how.operand < p_.operators[o].operands.size() && how.kernel < s_.kernels.size() && how.step >= 1);
        need(preparation_of(OperatorId(o), how.operand) == &how, "it is prepared twice");
      }
    for (const ScheduledKernel& kernel : s_.kernels) {
      at(fmt::format("kernel {}", &kernel - s_.kernels.data()));
      in_range(kernel.computes, p_.operators);
      const Operator& op = p_.operators[kernel.computes.index()];
      const Preparation* how = kernel.packs ? preparation_of(kernel.computes, *kernel.packs) : nullptr;
      need(!kernel.packs || how, "it prepares an operand that no kernel needs");
      need(how || op.map() || op.reduce() || (op.region() && op.region()->kind == RegionKind::group),
           "its operator cannot be computed by a kernel");
      const std::size_t dims = how ? how->type.shape.size() : op.dims.size();
      need(kernel.grain >= 1 && (!kernel.tile_dim || *kernel.tile_dim < dims), "it has no tile sizes");
      if (kernel.tile_dim) {
        const Range along = how ? Range{0, how->type.shape[*kernel.tile_dim]} : op.dims[*kernel.tile_dim].range;
        need(kernel.grain == 1 || kernel.grain <= checked::sub(along.hi, along.lo), "its tiles exceed its box");
      }
      // Threads take tiles in any order, and at the same time.
      need(!kernel.tile_dim || how || op.dims[*kernel.tile_dim].role == DimRole::parallel, "its tiles share results");
    }
  }
  // The maximum number of parts for threads.
  static std::int64_t most_parts(const ScheduledTask& task) {
    if (auto* call = std::get_if<KernelCall>(&task.what)) return call->tiles;
    if (auto* copy = std::get_if<CopyBox>(&task.what)) return std::max<std::int64_t>(copy->box.size(), 1);
    return 1;
  }
  void has_tiles(const KernelCall& call) const {
    const ScheduledKernel& kernel = s_.kernels[call.kernel];
    need(!kernel.tile_dim || *kernel.tile_dim < call.box.rank());
    std::int64_t expected = 1;
    if (kernel.tile_dim) {
      const Range along = call.box.dims[*kernel.tile_dim];
      const std::int64_t size = checked::sub(along.hi, along.lo);
      expected = size / kernel.grain + (size % kernel.grain != 0);
    }
    need(call.tiles == expected && expected > 0, "its tiles differ from its kernel's tiles on that box");
  }
  // An operation at run time: in these iterates, outermost first.
  struct OperationInLoops {
    const Graph* graph = nullptr;
    const Operator* op = nullptr;
    OperatorId id;
    std::vector<OperationRef> loops;
  };

  OperationInLoops operation(const OperationRef& ref) const {
    OperationInLoops found;
    const Graph* graph = &main_;
    Path path;
    for (const PathStep& step : ref.path) {
      in_range(step.operation, graph->operations);
      const RegionBody* region = p_[(*graph)[step.operation].op].region();
      need(region && step.alternative == 0, "its path does not lead into a region");
      if (region->kind == RegionKind::iterate) found.loops.push_back({path, step.operation});
      graph = &p_[region->graph];
      path.push_back(step);
    }
    in_range(ref.operation, graph->operations);
    found.id = (*graph)[ref.operation].op;
    found.op = &p_[found.id];
    found.graph = graph;
    return found;
  }
  // Its names for messages.
  void texts(const ScheduledOperation& o) const {
    const Graph& graph = *op_.back().graph;
    const Operation& operation = graph[o.what.operation];
    const Operator& op = *op_.back().op;
    ScheduledOperation its{operation.names ? operation.names->name : op.name, "", {}, {}, o.what};
    if (!operation.results.empty()) its.result = graph[operation.results[0]].name;
    need(!operation.names || operation.names->dims.size() == op.dims.size());
    for (std::size_t d = 0; d < op.dims.size(); ++d)
      its.dims.push_back({operation.names ? operation.names->dims[d] : op.dims[d].name,
                          std::ranges::count(op.blockings, d, &Blocking::block_dim) > 0});
    for (ValueId v : operation.operands) its.operands.emplace_back(graph[v].name, graph[v].type.shape);
    need(o == its, "its names or extents differ");
  }
  // A group's inner operations follow it, in the order of its kernel's sections.
  void listed_in_order() const {
    std::vector<OperationRef> inside;  // of the preceding group, in order
    std::size_t taken = 0;
    for (std::size_t o = 0; o < op_.size(); ++o) {
      const OperationRef& what = s_.operations[o].what;
      if (taken < inside.size()) {
        need(what == inside[taken++], "the operations of a group do not follow it");
        continue;
      }
      need(o == 0 || is_before(s_.operations[o - 1].what, what), "the operations are out of order");
      inside.clear(), taken = 0;
      const RegionBody* region = op_[o].op->region();
      if (region && region->kind == RegionKind::group) list_inside(what, *region, inside);
    }
    need(taken == inside.size(), "a group ends too early");
  }
  void list_inside(const OperationRef& of, const RegionBody& region, std::vector<OperationRef>& all) const {
    Path path = of.path;
    path.emplace_back(of.operation);
    const Graph& graph = p_[region.graph];
    for (std::size_t o = 0; o < graph.operations.size(); ++o) {
      all.push_back({path, OperationId(o)});
      if (const RegionBody* inner = p_[graph.operations[o].op].region()) list_inside(all.back(), *inner, all);
    }
  }
  static bool is_before(const OperationRef& a, const OperationRef& b) {
    auto numbers = [](const OperationRef& ref) {
      std::vector<std::size_t> all;
      for (const PathStep& step : ref.path) all.push_back(step.operation.index());
      all.push_back(ref.operation.index());
      return all;
    };
    return numbers(a) < numbers(b);
  }
  const Operator& op(std::size_t number) const {
    need(number < op_.size());
    need(op_[number].loops == loops_of_[sequence_], "its operation belongs to a different iterate");
    return *op_[number].op;
  }

  void types(const std::vector<ProgramTensor>& tensors, const std::vector<ValueId>& values) const {
    need(tensors.size() == values.size());
    for (std::size_t k = 0; k < values.size(); ++k)
      need(tensors[k].type == main_[values[k]].type, "an input or output has the wrong type");
  }
  void check_buffer(const Buffer& buffer) {
    need(buffer.at >= 0);
    row(buffer);
    if (buffer.space == MemorySpace::arena) return;
    need(buffer.row.empty(), "a row of buffers must be in the arena");
    if (buffer.space == MemorySpace::prepared) return;
    bool input = buffer.space == MemorySpace::input;
    const auto& tensors = input ? s_.inputs : s_.outputs;
    auto k = static_cast<std::size_t>(buffer.at);
    need(k < tensors.size());
    need(buffer.box == Box{ranges_of(tensors[k].type.shape)} && buffer.element == tensors[k].type.element,
         "it is not the whole input or output");
    need(input || std::count(outputs_.begin(), outputs_.end(), k) == 0, "one output has two buffers");
    if (!input) outputs_.push_back(k);
  }
  static std::vector<Range> ranges_of(const Shape& shape) {
    std::vector<Range> ranges;
    for (std::int64_t extent : shape) ranges.push_back({0, extent});
    return ranges;
  }
  template <class T>
  void buffer(const BufferMember& one, ElementType element, std::size_t rank, const T& task, std::size_t other) const {
    in_range(one, s_.buffers, task, other);
    buffer(one.id, element, rank);
  }
  void buffer(BufferId id, ElementType element, std::size_t rank) const {
    in_range(id, s_.buffers);
    need(s_.buffers[id.index()].box.rank() == rank);
    need(s_.buffers[id.index()].element == element, "its memory has the wrong type");
  }

  void read(const KernelCall& call) {
    const Operator& op = this->op(call.operations);
    need(op.map() || op.reduce() || (op.region() && op.region()->kind == RegionKind::group),
         "its operator cannot be computed by a kernel");
    need(s_.kernel_of[op_[call.operations].id.index()] == call.kernel, "it calls the kernel of a different operation");
    std::size_t operands = op.operands.size();
    need(call.box.rank() == op.dims.size() && call.buffers.size() == operands + op.results.size());
    has_tiles(call);
    row(call);
    for (std::size_t k = 0; k < call.buffers.size(); ++k) {
      const BufferId id = call.buffers[k].id;
      const TensorType& type = k < operands ? op.operands[k] : op.results[k - operands];
      const Preparation* how = k < operands ? preparation_of(op_[call.operations].id, k) : nullptr;
      in_range(call.buffers[k], s_.buffers, call, k);
      if (how) prepared(id, *how);
      else buffer(id, type.element, type.shape.size());
      need(how || s_.buffers[id.index()].space != MemorySpace::prepared, "it needs no prepared operand");
    }
    counters(op, call);
  }
  const Preparation* preparation_of(OperatorId op, std::size_t operand) const {
    for (const Preparation& how : s_.prepared[op.index()])
      if (how.operand == operand) return &how;
    return nullptr;
  }
  void prepared(BufferId id, const Preparation& how) const {
    buffer(id, how.type.element, how.type.shape.size());
    const Buffer& b = s_.buffers[id.index()];
    need(b.space == MemorySpace::prepared && b.box == Box{ranges_of(how.type.shape)}, "its operand is not prepared");
  }
  // A packing kernel reads a whole constant, and writes the whole layout that it is for.
  void prepare(const ScheduledTask& task) const {
    auto* call = std::get_if<KernelCall>(&task.what);
    need(call && call->kernel < s_.kernels.size() && call->buffers.size() == 2 && call->counters.empty() &&
         call->row.empty() && call->operations < s_.operations.size());
    has_tiles(*call);
    in_range(call->buffers[0], s_.buffers, *call, 0);
    in_range(call->buffers[1], s_.buffers, *call, 1);
    const Buffer &from = s_.buffers[call->buffers[0].id.index()], &to = s_.buffers[call->buffers[1].id.index()];
    need(from.space == MemorySpace::input && s_.inputs[static_cast<std::size_t>(from.at)].constant,
         "a prepared operand must be constant");
    need(to.space == MemorySpace::prepared && call->box == to.box, "it is only partly prepared");
    const ScheduledKernel& kernel = s_.kernels[call->kernel];
    const Preparation* how = kernel.packs ? preparation_of(kernel.computes, *kernel.packs) : nullptr;
    need(how, "its kernel does not prepare operands");
    const TensorType& read = p_.operators[kernel.computes.index()].operands[*kernel.packs];
    need(from.element == read.element && from.box == Box{ranges_of(read.shape)},
         "its kernel prepares operands of another type");
    need(to.element == how->type.element && to.box == Box{ranges_of(how->type.shape)},
         "its kernel makes another layout");
  }
  // Every counter of an enclosing iterate has its trip, at the only point that the box has there.
  void counters(const Operator& op, const KernelCall& call) const {
    std::size_t dims = 0;
    for (std::uint32_t d = 0; d < op.dims.size(); ++d) {
      if (op.dims[d].role != DimRole::counter) continue;
      ++dims;
      bool counts = std::count(call.counters.begin(), call.counters.end(), Counter{d, op.dims[d].level}) == 1;
      need(counts && op.dims[d].level < loops_of_[sequence_].size() && call.box.dims[d] == Range{0, 1},
           "a dim does not count the trips of its iterate");
    }
    need(dims == call.counters.size(), "a dim must not be a counter");
  }
  void read(const CopyBox& copy) {
    row(copy);
    in_range(copy.from.id, s_.buffers);
    const ElementType element = s_.buffers[copy.from.id.index()].element;
    buffer(copy.from, element, copy.box.rank(), copy, 0);
    buffer(copy.to, element, copy.box.rank(), copy, 1);
  }
  void read(const Fill& fill) {
    row(fill);
    in_range(fill.buffer.id, s_.buffers);
    buffer(fill.buffer, fill.value.type, s_.buffers[fill.buffer.id.index()].box.rank(), fill, 0);
  }
  void read(const OutsideCall& call) {
    const Operator& op = this->op(call.operation);
    need(op.kernel() && call.outside < s_.outside.size() && call.box.rank() == op.dims.size());
    Shape extents;
    for (const IndexDim& dim : op.dims) extents.push_back(dim.range.hi - dim.range.lo);
    need(op.kernel()->symbol == s_.outside[call.outside] && extents == call.extents,
         "its outside kernel or index space differs");
    need(call.regions.size() == op.reads.size() + op.writes.size());
    row(call);
    for (std::size_t k = 0; k < call.regions.size(); ++k) {
      bool reads = k < op.reads.size();
      const Access& access = reads ? op.reads[k] : op.writes[k - op.reads.size()];
      buffer(call.regions[k], (reads ? op.operands : op.results)[access.tensor].element, access.projection.rank(), call,
             k);
    }
  }
  // A body follows the sequence that runs it, and belongs to only one iterate, and so do its memories.
  void read(const Iteration& loop) {
    const Operator& op = this->op(loop.operation);
    need(op.region() && op.region()->kind == RegionKind::iterate);
    need(loop.steps == op.region()->trips && loop.steps.lo < loop.steps.hi, "its trips differ");
    need(loop.body > sequence_ && loop.body < s_.sequences.size() && loops_of_[loop.body].empty() &&
         loop.body != s_.preparation);
    loops_of_[loop.body] = loops_of_[sequence_];
    loops_of_[loop.body].push_back(s_.operations[loop.operation].what);
    std::uint32_t states = 0;
    for (const auto& [state, now, next] : loop.states) {
      need((state == states || state + 1 == states) && state < op.results.size(), "its states are unordered");
      states = state + 1;
      for (BufferId id : {now, next}) {
        buffer(id, op.results[state].element, op.results[state].shape.size());
        need(s_.buffers[id.index()].box == s_.buffers[now.index()].box &&
                 s_.buffers[id.index()].space == MemorySpace::arena && alike(id, now),
             "a state needs two arena buffers of its shape");
        need(std::count(exchanged_.begin(), exchanged_.end(), id) == 0, "a buffer is swapped with two others");
        exchanged_.push_back(id);
      }
    }
    need(states == op.results.size(), "a state of the iterate has no buffer");
  }

  // Rows of the same length, of equal boxes.
  bool alike(BufferId a, BufferId b) const {
    auto same = [rank = s_.buffers[b.index()].box.rank()](const Level& x, const Level& y) {
      return x.count == y.count &&
             std::equal(x.steps.begin(), x.steps.begin() + static_cast<std::ptrdiff_t>(rank), y.steps.begin());
    };
    return std::ranges::equal(s_.buffers[a.index()].row, s_.buffers[b.index()].row, same);
  }

  const Schedule& s_;
  const Graph& main_ = p_[p_.main];
  std::vector<OperationInLoops> op_;  // by operation of the schedule
  std::vector<std::size_t> outputs_;  // that have a buffer
  std::vector<BufferId> exchanged_;
  std::vector<std::vector<OperationRef>> loops_of_{s_.sequences.size()};  // by sequence: its iterates
  std::size_t sequence_ = 0;
};

}  // namespace

std::optional<std::string> ill_formed(const Program& program, const Schedule& schedule) {
  return first_fault([&] { ScheduleReader(program, schedule).run(); });
}

}  // namespace tap::ir
