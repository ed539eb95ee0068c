#include "backend/run_group.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>

#include "backend/group_tiles.h"
#include "ir/block_graph.h"
#include "ir/demand.h"
#include "support/check.h"

namespace tap::backend {

using namespace ir;

void InnerMemory::add(std::size_t bytes) {
  std::size_t here = now += bytes;
  for (std::size_t before = most; before < here && !most.compare_exchange_weak(before, here);) {}
}

std::vector<std::int64_t> box_argument(const Operator& op, const Box& box, const std::vector<std::int64_t>& counters) {
  std::vector<std::int64_t> result;
  Box runs = box_to_run(op, box);
  for (std::size_t d = 0; d < op.dims.size(); ++d) {
    Range range = runs.dims[d];
    if (op.dims[d].role == DimRole::counter) {
      std::int64_t trip = counters.at(counters.size() - 1 - op.dims[d].level);
      range = {trip, trip + 1};
    }
    result.push_back(range.lo);
    result.push_back(range.hi);
  }
  return result;
}

void* thread_scratch(std::size_t bytes) {
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  thread_local std::unique_ptr<std::byte, Free> memory;
  thread_local std::size_t size = 0;
  constexpr std::size_t page = 4096;
  if (bytes > size) {
    bytes = (bytes + page - 1) / page * page;
    memory.reset(static_cast<std::byte*>(std::aligned_alloc(page, bytes)));
    size = memory ? bytes : 0;
    if (!memory) throw std::bad_alloc();
  }
  return memory.get();
}

namespace {

// A region of a value, with memory of its own. What it holds is not set.
class Region {
 public:
  Region() = default;
  Region(const TensorType& type, Box box, InnerMemory& memory) : box_(std::move(box)), memory_(&memory) {
    constexpr std::size_t line = 64;
    bytes_ = static_cast<std::size_t>(std::max<std::int64_t>(box_.size(), 1)) * size_of(type.element);
    bytes_ = (bytes_ + line - 1) / line * line;
    data_.reset(static_cast<std::byte*>(std::aligned_alloc(line, bytes_)));
    if (!data_) throw std::bad_alloc();
    memory_->add(bytes_);
    view_ = view_of_box(data_.get(), type.element, box_);
  }
  Region(Region&&) = default;
  Region& operator=(Region&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(box_, other.box_);
    std::swap(view_, other.view_);
    std::swap(bytes_, other.bytes_);
    std::swap(memory_, other.memory_);
    return *this;
  }
  ~Region() {
    if (data_) memory_->remove(bytes_);
  }

  bool holds(const Box& box) const { return data_ && box_ == box; }
  const View& view() const { return view_; }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> data_;
  Box box_;
  View view_;
  std::size_t bytes_ = 0;
  InnerMemory* memory_ = nullptr;
};

class Tile {
 public:
  Tile(const CompiledProgram& compiled, const GroupArguments& arguments, const std::vector<std::int64_t>& counters,
       InnerMemory& memory)
      : compiled_(compiled),
        program_(compiled.blocks.program),
        group_(program_[arguments.group]),
        points_(compiled.groups.at(arguments.group).points),
        view_(view_of(program_, group_)),
        graph_(view_.graph),
        counters_(counters),
        memory_(memory),
        outside_(graph_.values.size()),
        inside_(graph_.values.size()),
        done_(graph_.operations.size()) {
    for (std::size_t k = 0; k < graph_.inputs.size(); ++k) outside_[graph_.inputs[k].index()] = &arguments.operands[k];
    for (std::size_t k = 0; k < graph_.outputs.size(); ++k) outside_[graph_.outputs[k].index()] = &arguments.results[k];
    for (const GroupAnchor& a : view_.anchors)
      if (group_.dims[a.dim].role == DimRole::reduction) streams_.try_emplace(a.operation);
  }

  std::optional<GroupFailure> run(Box tile) {
    for (std::size_t d = 0; d < tile.rank(); ++d)
      if (group_.dims[d].role == DimRole::counter) {
        std::int64_t trip = counters_.at(counters_.size() - 1 - group_.dims[d].level);
        tile.dims[d] = {trip, trip + 1};
      }
    for (const Box& step : group_steps(group_, tile, points_))
      if (auto failure = run_step(step)) return failure;
    for (auto& [operation, stream] : streams_) finish(operation, stream);
    return std::nullopt;
  }

 private:
  // What a reduction has combined so far, by result; the other half is where the next combination goes.
  struct Stream {
    std::vector<Region> so_far, next, block;
    Box box;
    bool begun = false;
  };

  const Operator& op(std::size_t operation) const { return program_[graph_.operations[operation].op]; }
  const View& at(ValueId v) const { return outside_[v.index()] ? *outside_[v.index()] : inside_[v.index()].view(); }

  // What the step before has made on the same box is there still.
  std::optional<GroupFailure> run_step(const Box& step) {
    Demand asked = demand(view_, step);
    std::vector<bool> fresh(graph_.values.size(), false);
    for (std::size_t v = 0; v < fresh.size(); ++v) {
      if (outside_[v] || inside_[v].holds(asked.values[v])) continue;
      inside_[v] = {};
      inside_[v] = Region(graph_.values[v].type, asked.values[v], memory_);
      fresh[v] = true;
    }
    for (std::size_t o = 0; o < graph_.operations.size(); ++o) {
      const Box& box = asked.operations[o];
      const auto& results = graph_.operations[o].results;
      bool again = done_[o] == box && !streams_.count(o) &&
                   std::none_of(results.begin(), results.end(), [&](ValueId v) { return fresh[v.index()]; });
      if (again || without_reduction(op(o), box).empty()) continue;
      if (auto failure = run_operation(o, box)) return failure;
      done_[o] = box;
    }
    return std::nullopt;
  }

  std::optional<GroupFailure> run_operation(std::size_t o, const Box& box) {
    const Operation& operation = graph_.operations[o];
    std::vector<View> operands, results;
    for (ValueId v : operation.operands) operands.push_back(at(v));
    if (auto it = streams_.find(o); it != streams_.end()) return stream(o, it->second, box, operands);
    for (ValueId v : operation.results) results.push_back(at(v));
    if (!op(o).region()) return call(o, op(o), *compiled_.kernels.of[operation.op.index()], box, operands, results);
    GroupArguments inner{operation.op, std::move(operands), std::move(results)};
    for (const Box& tile : group_tiles(op(o), box, compiled_.groups.at(operation.op).points, 1))
      if (auto failure = run_tile(compiled_, inner, tile, counters_, memory_)) return failure;
    return std::nullopt;
  }

  std::optional<GroupFailure> call(std::size_t o, const Operator& its, std::size_t kernel, const Box& box,
                                   const std::vector<View>& operands, const std::vector<View>& results) const {
    Call call;
    for (const auto* list : {&operands, &results})
      for (const View& view : *list) call.add(view);
    call.box = box_argument(its, box, counters_);
    const Kernel& loops = compiled_.kernels.kernels[kernel];
    call.end_tile = tile_count(loops, box);
    call.run(compiled_.functions[kernel], thread_scratch(scratch_bytes(loops)));
    if (call.why == 0) return std::nullopt;
    return GroupFailure{group_.region()->graph, OperationId(o), static_cast<KernelFailure>(call.why), call.error};
  }

  std::optional<GroupFailure> stream(std::size_t o, Stream& stream, const Box& box, const std::vector<View>& operands) {
    const StreamedKernels& kernels = compiled_.streamed.at(graph_.operations[o].op);
    if (!stream.begun) {
      stream.box = without_reduction(op(o), box);
      for (auto* regions : {&stream.so_far, &stream.next, &stream.block})
        for (std::uint32_t r = 0; r < kernels.operators.partial.results.size(); ++r)
          regions->emplace_back(kernels.operators.partial.results[r], written_region(op(o), r, stream.box), memory_);
    }
    auto& into = stream.begun ? stream.block : stream.so_far;
    if (auto failure = call(o, kernels.operators.partial, kernels.partial, box, operands, views(into))) return failure;
    if (stream.begun) {
      std::vector<View> both = views(stream.so_far);
      for (const View& view : views(stream.block)) both.push_back(view);
      if (auto failure = call(o, kernels.operators.combine, kernels.combine, stream.box, both, views(stream.next)))
        return failure;
      std::swap(stream.so_far, stream.next);
    }
    stream.begun = true;
    return std::nullopt;
  }

  void finish(std::size_t o, const Stream& stream) const {
    if (!stream.begun) return;
    const StreamedKernels& kernels = compiled_.streamed.at(graph_.operations[o].op);
    std::vector<View> results;
    for (ValueId v : graph_.operations[o].results) results.push_back(at(v));
    auto failure = call(o, kernels.operators.finish, kernels.finish, stream.box, views(stream.so_far), results);
    TAP_CHECK(!failure, "rounding a result failed");
  }

  static std::vector<View> views(const std::vector<Region>& regions) {
    std::vector<View> result;
    for (const Region& region : regions) result.push_back(region.view());
    return result;
  }

  const CompiledProgram& compiled_;
  const Program& program_;
  const Operator& group_;
  const std::vector<std::int64_t>& points_;
  GroupView view_;
  const Graph& graph_;
  const std::vector<std::int64_t>& counters_;
  InnerMemory& memory_;
  std::vector<const View*> outside_;       // by value: operands and results of the group
  std::vector<Region> inside_;             // by value: of all others what the step needs
  std::vector<std::optional<Box>> done_;   // by operation: the box that it ran on in the step before
  std::map<std::size_t, Stream> streams_;  // by operation
};

}  // namespace

std::optional<GroupFailure> run_tile(const CompiledProgram& compiled, const GroupArguments& arguments, const Box& tile,
                                     const std::vector<std::int64_t>& counters, InnerMemory& memory) {
  return Tile(compiled, arguments, counters, memory).run(tile);
}

}  // namespace tap::backend
