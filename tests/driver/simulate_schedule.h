// What a schedule computes, by what its text alone says: each kernel is the operator that the table of kernels names, evaluated by
// the interpreter on the box of the call, on memory as it is planned. A layout that was prepared is made, and read, as the operators
// that want it say. Shares nothing with native code and nothing with the checker; every access is looked at.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>

#include "ir/author_names.h"
#include "ir/graph.h"
#include "ir/interpret/interpret_group.h"
#include "ir/interpret/interpret_operation.h"
#include "ir/schedule.h"
#include "runtime/kernel_abi.h"
#include "support/checked.h"

namespace tap::driver::test {

class ScheduleSimulator {
 public:
  // With `backwards` the tasks of a batch run in the other order: none may need another.
  ScheduleSimulator(const ir::Program& program, const ir::Schedule& rows, std::vector<Tensor> inputs,
                    OutsideFunction outside, bool backwards)
      : program_(program),
        s_(ir::by_memory(rows)),
        inputs_(std::move(inputs)),
        outside_(outside),
        backwards_(backwards),
        arena_(memory(s_.arena_bytes)),
        prepared_(memory(s_.prepared_bytes)) {
    for (const ir::ProgramTensor& t : s_.outputs) outputs_.emplace_back(t.type.element, t.type.shape);
    for (std::size_t b = 0; b < s_.buffers.size(); ++b) at_.push_back(s_.buffers[b].at);
  }

  std::vector<Tensor> run() {
    if (s_.preparation)
      for (const ir::Batch& batch : s_.sequences[*s_.preparation])
        for (const ir::ScheduledTask& task : batch) prepare(std::get<ir::KernelCall>(task.what));
    sequence(0);
    return outputs_;
  }

 private:
  using Datum = ir::oracle::Datum;
  using Memory = std::vector<std::byte>;
  [[noreturn]] static void fail(const char* why) { throw std::runtime_error(why); }
  static Memory memory(std::int64_t bytes) {
    if (bytes < 0 || bytes > 1 << 26) fail("this memory is not simulated");
    return Memory(static_cast<std::size_t>(bytes), std::byte{0x7f});
  }

  // The byte of a cell of a buffer.
  std::byte* cell(ir::BufferId id, const ir::Point& point) {
    const ir::Buffer& b = s_.buffers[id.index()];
    std::int64_t number = 0;
    for (std::size_t d = 0; d < point.size(); ++d) {
      if (!b.box.dims[d].contains(point[d])) fail("a cell outside of its memory");
      number = number * b.box.dims[d].size() + point[d] - b.box.dims[d].lo;
    }
    const auto size = static_cast<std::int64_t>(size_of(b.element));
    std::byte* begin = nullptr;
    std::int64_t bytes = 0, at = number * size;
    auto in = [&](Memory& memory) {
      begin = memory.data(), bytes = static_cast<std::int64_t>(memory.size()), at += at_[id.index()];
    };
    auto of = [&](Tensor& tensor) {
      begin = tensor.mutable_data(), bytes = static_cast<std::int64_t>(tensor.byte_size());
    };
    switch (b.space) {
      case ir::MemorySpace::arena: in(arena_); break;
      case ir::MemorySpace::prepared: in(prepared_); break;
      case ir::MemorySpace::input: of(inputs_.at(static_cast<std::size_t>(b.at))); break;
      case ir::MemorySpace::output: of(outputs_.at(static_cast<std::size_t>(b.at))); break;
    }
    if (at < 0 || at + size > bytes) fail("a cell outside of all memory");
    return begin + at;
  }
  template <class Visit>
  static void each(const ir::Box& box, Visit visit) {
    auto p = ir::first_point(box);
    for (bool more = p.has_value(); more; more = ir::next_point(box, *p)) visit(*p);
  }
  static std::byte* cell(Tensor& tensor, const ir::Point& point) {
    std::int64_t number = 0;
    for (std::size_t d = 0; d < point.size(); ++d) number = number * tensor.shape()[d] + point[d];
    return tensor.mutable_data() + static_cast<std::size_t>(number) * size_of(tensor.type());
  }
  static Datum blank(const ir::TensorType& type) {
    Datum datum{Tensor(type.element, type.shape), {}};
    std::memset(datum.value.mutable_data(), 0x7f, datum.value.byte_size());
    return datum;
  }
  // What of a tensor is in a buffer.
  ir::Box stored_cells(ir::BufferId id, const ir::TensorType& type) const {
    return intersect(s_.buffers[id.index()].box, ir::Box::of_shape(type.shape));
  }
  Datum loaded(ir::BufferId id, const ir::TensorType& type) {
    Datum datum = blank(type);
    each(stored_cells(id, type),
         [&](const ir::Point& p) { std::memcpy(cell(datum.value, p), cell(id, p), size_of(type.element)); });
    return datum;
  }

  void sequence(std::size_t number) {
    for (const ir::Batch& batch : s_.sequences.at(number))
      for (std::size_t k = 0; k < batch.size(); ++k) {
        const ir::ScheduledTask& task = batch[backwards_ ? batch.size() - 1 - k : k];
        std::visit([this](const auto& what) { this->task(what); }, task.what);
      }
  }

  const ir::Preparation* preparation_of(const ir::ScheduledKernel& kernel, std::size_t operand) const {
    for (const ir::Preparation& how : s_.prepared[kernel.computes.index()])
      if (how.operand == operand) return &how;
    return nullptr;
  }
  // The reads of an operand, and whose dims they are over: of a group those of the operation inside.
  std::pair<const ir::Operator*, const ir::Access*> reader(const ir::Operator& op, std::uint32_t operand) const {
    if (!op.region())
      for (const ir::Access& read : op.reads)
        if (read.tensor == operand) return {&op, &read};
    const ir::Graph& inner = program_[op.region()->graph];
    for (const ir::Operation& o : inner.operations)
      for (std::uint32_t k = 0; k < o.operands.size(); ++k)
        if (o.operands[k] == inner.inputs[operand]) return reader(program_[o.op], k);
    fail("a layout of what nobody reads");
  }
  // Visits each position of the layout with the cell of the operand that is there.
  template <class Visit>
  void each_packed(const ir::ScheduledKernel& kernel, const ir::Preparation& how, Visit visit) const {
    const auto [op, read] = reader(program_[kernel.computes], how.operand);
    each(ir::Box::of_shape(how.type.shape), [&, op = op, read = read](const ir::Point& packed) {
      ir::Point at, from;
      for (const ir::IndexDim& dim : op->dims) at.push_back(dim.range.lo);
      for (std::size_t k = 0; k < how.dims.size(); ++k) {
        const std::int64_t n = how.dims[k] == how.along ? packed[k] * how.step + packed.back() : packed[k];
        at[how.dims[k]] = op->dims[how.dims[k]].range.lo + n;
      }
      for (const ir::Range& r : read->projection.image(at).dims) from.push_back(r.lo);
      visit(packed, from, *op, *read);
    });
  }
  void prepare(const ir::KernelCall& call) {
    const ir::ScheduledKernel& kernel = s_.kernels.at(call.kernel);
    if (!kernel.packs) return task(call);
    const ir::Preparation& how = *preparation_of(kernel, *kernel.packs);
    const std::size_t size = size_of(how.type.element);
    const ir::BufferId from = call.buffers[0].id, to = call.buffers[1].id;
    each_packed(kernel, how,
                [&](const ir::Point& packed, const ir::Point& at, const ir::Operator& op, const ir::Access& read) {
                  if (s_.buffers[from.index()].box.contains(at)) std::memcpy(cell(to, packed), cell(from, at), size);
                  else if (read.fill) store(to, packed, op.exprs[*read.fill].value);
                  else std::memset(cell(to, packed), 0, size);
                });
  }
  Datum unpacked(ir::BufferId id, const ir::ScheduledKernel& kernel, const ir::Preparation& how) {
    const ir::TensorType& type = program_[kernel.computes].operands[how.operand];
    Datum whole = blank(type);
    each_packed(kernel, how, [&](const ir::Point& packed, const ir::Point& at, const ir::Operator&, const ir::Access&) {
      if (ir::Box::of_shape(type.shape).contains(at))
        std::memcpy(cell(whole.value, at), cell(id, packed), size_of(type.element));
    });
    return whole;
  }

  void task(const ir::KernelCall& row) {
    const ir::ScheduledKernel& kernel = s_.kernels.at(row.kernel);
    const ir::Operator& op = program_[kernel.computes];
    if (kernel.packs) fail("a layout is no operation");
    for (const ir::KernelCall& call : ir::members(row)) {
      std::vector<Datum> operands, results;
      for (std::uint32_t k = 0; k < op.operands.size(); ++k) {
        const ir::Preparation* how = preparation_of(kernel, k);
        operands.push_back(how ? unpacked(call.buffers.at(k).id, kernel, *how)
                               : loaded(call.buffers.at(k).id, op.operands[k]));
      }
      const auto* to = call.buffers.data() + op.operands.size();
      for (std::size_t k = 0; k < op.results.size(); ++k) results.push_back(loaded(to[k].id, op.results[k]));
      std::vector<const Datum*> from;
      std::vector<Datum*> into;
      for (const Datum& datum : operands) from.push_back(&datum);
      for (Datum& datum : results) into.push_back(&datum);
      evaluate(op, call.box, from, into);
      for (std::size_t k = 0; k < op.results.size(); ++k)
        each(stored_cells(to[k].id, op.results[k]), [&](const ir::Point& p) {
          std::memcpy(cell(to[k].id, p), cell(results[k].value, p), size_of(op.results[k].element));
        });
    }
  }
  // A kernel runs on the box that it is given, whatever blocks the operator has; a group walks through its own.
  void evaluate(const ir::Operator& op, ir::Box box, const std::vector<const Datum*>& operands,
                const std::vector<Datum*>& results) {
    if (op.region()) return ir::oracle::evaluate_group({program_, op, options_, counters_}, box, operands, results);
    ir::Operator on = op;
    on.blockings.clear();
    for (std::size_t d = 0; d < op.dims.size(); ++d)
      if (op.dims[d].role != ir::DimRole::counter) on.dims[d].range = box.dims[d];
    const std::optional<ir::OperationNames> names;
    ir::oracle::evaluate_operation(
        {program_, on, options_, counters_, operands, std::vector<std::string>(operands.size()), names}, results);
  }

  void task(const ir::CopyBox& copy) {
    const std::size_t size = size_of(s_.buffers[copy.from.id.index()].element);
    each(copy.box, [&](const ir::Point& p) { std::memcpy(cell(copy.to.id, p), cell(copy.from.id, p), size); });
  }
  void store(ir::BufferId id, const ir::Point& p, const ir::Scalar& value) {
    Tensor one(value.type, {});
    if (is_float(value.type)) one.store_f64(0, value.f);
    else one.store_i64(0, value.i);
    std::memcpy(cell(id, p), one.data(), one.byte_size());
  }
  void task(const ir::Fill& fill) {
    each(s_.buffers[fill.buffer.id.index()].box, [&](const ir::Point& p) { store(fill.buffer.id, p, fill.value); });
  }
  void task(const ir::OutsideCall& call) {
    std::vector<std::int64_t> words;
    std::vector<OutsideRegion> regions;
    std::vector<Shape> extents, strides;
    for (const ir::Range& r : call.box.dims) words.insert(words.end(), {r.lo, r.hi});
    for (const ir::BufferMember& one : call.regions) {
      const ir::Box& box = s_.buffers[one.id.index()].box;
      extents.push_back(box.shape());
      strides.push_back(row_major_strides(extents.back()));
      ir::Point first, last;
      for (const ir::Range& r : box.dims) first.push_back(r.lo), last.push_back(r.hi - 1);
      cell(one.id, last);
      regions.push_back({cell(one.id, first), nullptr, nullptr});
    }
    for (std::size_t k = 0; k < regions.size(); ++k)
      regions[k].extents = extents[k].data(), regions[k].strides = strides[k].data();
    outside_(words.data(), call.extents.data(), regions.data());
  }
  void task(const ir::Iteration& loop) {
    for (std::int64_t step = loop.steps.lo; step < loop.steps.hi; ++step) {
      counters_.push_back(step);
      sequence(loop.body);
      counters_.pop_back();
      for (const ir::ExchangedState& one : loop.states) std::swap(at_[one.now.index()], at_[one.next.index()]);
    }
  }

  const ir::Program& program_;
  const ir::Schedule s_;
  std::vector<Tensor> inputs_, outputs_;
  const OutsideFunction outside_;
  const bool backwards_;
  Memory arena_, prepared_;
  std::vector<std::int64_t> at_;  // by buffer, where it begins now
  std::vector<std::int64_t> counters_;
  const ir::InterpretOptions options_;
};

}  // namespace tap::driver::test
