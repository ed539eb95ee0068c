// A schedule as words. Equal lists, mostly strides, are stored once.
#include <algorithm>
#include <cstring>
#include <map>

#include "backend/schedule/equal_tiles.h"
#include "backend/schedule/reach.h"
#include "backend/schedule/rows_of_calls.h"
#include "backend/schedule/schedule.h"
#include "backend/schedule/shared_batches.h"
#include "ir/graph.h"
#include "runtime/kernel_abi.h"
#include "runtime/processor.h"
#include "runtime/schedule_tables.h"
#include "support/check.h"
#include "support/checked.h"
#include "support/portions.h"

namespace tap::backend {
namespace {

using Words = std::vector<std::int64_t>;

template <class T>
Words words_of(const T& record) {
  static_assert(sizeof(T) % sizeof(std::int64_t) == 0);
  Words words(sizeof(T) / sizeof(std::int64_t));
  std::memcpy(words.data(), &record, sizeof(T));
  return words;
}
template <class T>
Words words_of(const std::vector<T>& records) {
  Words words;
  for (const T& record : records) {
    Words one = words_of(record);
    words.insert(words.end(), one.begin(), one.end());
  }
  return words;
}

Words bounds(const ir::Box& box) {
  Words words;
  for (ir::Range r : box.dims) words.insert(words.end(), {r.lo, r.hi});
  return words;
}

// Only calls of kernels fail; of several, the failure of the earliest operation is reported.
tables::Task head(tables::TaskKind kind, const ScheduledTask& task) {
  std::size_t operation = 0;
  if (const auto* call = std::get_if<KernelCall>(&task.what)) operation = call->operations;
  if (const auto* call = std::get_if<OutsideCall>(&task.what)) operation = call->operation;
  return {kind, task.tiles, static_cast<std::int64_t>(operation)};
}

std::int64_t integer(std::size_t n) { return static_cast<std::int64_t>(n); }

std::int64_t bits_of(const ir::Scalar& value) {
  Tensor one(value.type, {});
  if (is_float(value.type)) one.store_f64(0, value.f);
  else one.store_i64(0, value.i);
  std::int64_t bits = 0;
  std::memcpy(&bits, one.data(), one.byte_size());
  return bits;
}

class Encoder {
 public:
  Encoder(const Schedule& schedule, const std::vector<Kernel>& kernels, const std::vector<BufferDevice>& devices)
      : schedule_(with_rows_of_calls(by_memory(schedule))),
        kernels_(kernels),
        equal_tiles_(kernels),
        reach_(schedule_, kernels),
        scratch_(most_scratch(kernels)) {
    for (std::size_t b = 0; b < devices.size(); ++b)
      for (std::int64_t device : devices_of(devices[b], schedule.buffers[b].row)) devices_.push_back(device);
  }

  Words run(const std::vector<std::string>& features) {
    words_.resize(sizeof(tables::Head) / sizeof(std::int64_t));
    tables::Head head{};
    head.magic = tables::magic;
    head.version = tables::version;
    head.arena_bytes = schedule_.arena_bytes;
    head.scratch_bytes = aligned_bytes(scratch_);
    head.kernels = integer(schedule_.kernels.size());
    head.inputs = tensors(schedule_.inputs);
    head.outputs = tensors(schedule_.outputs);
    std::vector<tables::Buffer> buffers;
    for (const Buffer& b : schedule_.buffers) {
      const std::int64_t device = devices_.empty() ? ir::everywhere : devices_[buffers.size()];
      buffers.push_back({static_cast<std::int64_t>(b.space), b.at, b.bytes(), device});
    }
    head.buffers = all(buffers);
    head.operations = operations();
    std::vector<tables::Text> outside;
    for (const std::string& symbol : schedule_.outside) outside.push_back(text(symbol));
    head.outside = all(outside);
    std::vector<tables::Text> required;
    for (const std::string& feature : features)
      if (processor::is_known(feature.data(), feature.size())) required.push_back(text(feature));
    head.features = all(required);
    std::vector<tables::Sequence> sequences;
    for (std::size_t s = 0; s < schedule_.sequences.size(); ++s) sequences.push_back({batches(s)});
    head.sequences = all(sequences);
    head.preparation = schedule_.preparation ? integer(*schedule_.preparation) : -1;
    head.prepared_bytes = schedule_.prepared_bytes;
    head.depth = depth(schedule_.sequences[0]);
    head.most_arguments = most_arguments_;
    head.words = integer(words_.size());
    std::memcpy(words_.data(), &head, sizeof head);
    return std::move(words_);
  }

  // In the order in which run() encodes them. Pre: made from this schedule.
  EncodedSchedule calls(const Schedule& rows) const {
    EncodedSchedule all{{}, schedule_.buffers, devices_};
    for (std::size_t s = 0; s < schedule_.sequences.size(); ++s) {
      auto& sequence = all.calls.emplace_back();
      for (std::size_t b = 0; b < schedule_.sequences[s].size(); ++b) {
        const Batch& batch = schedule_.sequences[s][b];
        std::vector<EncodedCall> found = alone(rows.sequences[s][b], batch);
        auto next = found.begin();
        auto& encoded = sequence.emplace_back();
        for (std::size_t t = 0; t < batch.size();) {
          const Row row = row_from(batch, t);
          encoded.emplace_back(std::move_iterator(next), std::move_iterator(next + row.count));
          next += row.count;
          t += row.tasks;
        }
      }
    }
    return all;
  }

 private:
  // One task for each member, with the task of `rows` that it belongs to.
  static std::vector<EncodedCall> alone(const Batch& rows, const Batch& batch) {
    std::vector<EncodedCall> all;
    std::size_t task = 0, member = 0;
    auto add = [&](ScheduledTask one) {
      if (member == static_cast<std::size_t>(count_of_members(rows[task]))) {
        ++task;
        member = 0;
      }
      all.push_back({task, member++, std::move(one)});
    };
    for (const ScheduledTask& piece : batch) {
      if (const auto* call = std::get_if<KernelCall>(&piece.what))
        for (KernelCall& one : ir::members(*call)) add({std::move(one), piece.tiles});
      else add(piece);
    }
    return all;
  }
  static std::int64_t count_of_members(const ScheduledTask& task) {
    if (const auto* call = std::get_if<KernelCall>(&task.what)) return ir::count_of(call->row);
    if (const auto* copy = std::get_if<CopyBox>(&task.what)) return ir::count_of(copy->row);
    if (const auto* fill = std::get_if<Fill>(&task.what)) return ir::count_of(fill->row);
    if (const auto* call = std::get_if<OutsideCall>(&task.what)) return ir::count_of(call->row);
    return 1;
  }

  std::int64_t put(const Words& list) {
    auto [it, fresh] = known_.try_emplace(list, integer(words_.size()));
    if (fresh) words_.insert(words_.end(), list.begin(), list.end());
    return it->second;
  }
  tables::List numbers(const Words& list) { return {put(list), integer(list.size())}; }
  template <class T>
  tables::List all(const std::vector<T>& records) {
    return {put(words_of(records)), integer(records.size())};
  }
  tables::Text text(const std::string& s) {
    Words words((s.size() + 7) / 8);
    if (!s.empty()) std::memcpy(words.data(), s.data(), s.size());
    return {put(words), integer(s.size())};
  }

  tables::List tensors(const std::vector<ProgramTensor>& list) {
    std::vector<tables::Tensor> result;
    for (const ProgramTensor& t : list)
      result.push_back({text(t.name), static_cast<std::int64_t>(t.type.element), integer(size_of(t.type.element)),
                        numbers(t.type.shape), t.constant});
    return all(result);
  }
  tables::List operations() {
    std::vector<tables::Operation> result;
    for (const ScheduledOperation& o : schedule_.operations) {
      std::vector<tables::Dim> dims;
      for (const auto& dim : o.dims) dims.push_back({text(dim.name), dim.hidden});
      std::vector<tables::Operand> operands;
      for (const auto& [name, shape] : o.operands) operands.push_back({text(name), numbers(shape)});
      result.push_back({text(o.name), text(o.result), all(dims), all(operands)});
    }
    return all(result);
  }

  tables::List batches(std::size_t number) {
    std::vector<tables::Batch> result;
    for (const Batch& batch : schedule_.sequences[number]) {
      Words positions;
      std::int64_t tiles = 0;
      for (std::size_t t = 0; t < batch.size();) {
        const Row row = row_from(batch, t);
        tiles = checked::add(tiles, checked::mul(batch[t].tiles, row.count));
        positions.push_back(
            put(row.count > 1 ? encode(batch[t], std::get<KernelCall>(batch[t].what), row) : encode(batch[t])));
        t += row.tasks;
      }
      const Tiles sharing = tiles <= 1 || !pays_to_share(batch, schedule_, kernels_) ? Tiles::one_thread
                            : equal_tiles_.of(batch)                                 ? Tiles::equal_work
                                                                                     : Tiles::any_work;
      const std::int64_t reach = sharing == Tiles::one_thread ? Reach::all : reach_.of(number, result.size());
      result.push_back({numbers(positions), tiles, static_cast<std::int64_t>(sharing), reach + 1});
    }
    return all(result);
  }

  // Calls that differ only by constant steps: those of one task, or of several.
  struct Row {
    std::size_t tasks = 1;
    std::int64_t count = 1;
    Words box_step, argument_steps;
  };
  Words arguments_of(const KernelCall& call) const {
    std::vector<tables::Argument> result;
    for (const ir::BufferMember& m : call.buffers) result.push_back(origin(m.id));
    return words_of(result);
  }
  Words strides_of(const KernelCall& call) const {
    Words strides;
    for (const ir::BufferMember& m : call.buffers)
      for (std::int64_t s : row_major_strides(at(m.id).box.shape())) strides.push_back(s);
    return strides;
  }
  static Words difference(const Words& a, const Words& b) {
    Words result;
    for (std::size_t k = 0; k < a.size(); ++k) result.push_back(checked::sub(b[k], a[k]));
    return result;
  }
  bool is_alike(const ScheduledTask& task, const KernelCall& call, const ScheduledTask& other) const {
    auto* next = std::get_if<KernelCall>(&other.what);
    return next && call.row.empty() && next->row.empty() && task.tiles == other.tiles && call.kernel == next->kernel &&
           call.tiles == next->tiles && call.operations == next->operations && call.counters == next->counters &&
           call.buffers.size() == next->buffers.size() && strides_of(call) == strides_of(*next);
  }
  Row row_from(const Batch& batch, std::size_t begin) const {
    Row row;
    const auto* call = std::get_if<KernelCall>(&batch[begin].what);
    if (!call) return row;
    row.box_step.resize(2 * call->box.rank());
    row.argument_steps.resize(2 * call->buffers.size());
    row.count = ir::count_of(call->row);
    for (const ir::Level& level : call->row)
      for (std::size_t d = 0; d < call->box.rank(); ++d) row.box_step[2 * d] = row.box_step[2 * d + 1] = level.steps[d];
    Words box = bounds(call->box), arguments = arguments_of(*call);
    for (std::size_t t = begin + 1; t < batch.size() && is_alike(batch[begin], *call, batch[t]); ++t) {
      const auto& next = std::get<KernelCall>(batch[t].what);
      Words next_box = bounds(next.box), next_arguments = arguments_of(next);
      Words box_step = difference(box, next_box), argument_steps = difference(arguments, next_arguments);
      if (row.count > 1 && (box_step != row.box_step || argument_steps != row.argument_steps)) break;
      row = {row.tasks + 1, row.count + 1, std::move(box_step), std::move(argument_steps)};
      box = std::move(next_box);
      arguments = std::move(next_arguments);
    }
    return row;
  }

  const Buffer& at(BufferId id) const { return schedule_.buffers[id.index()]; }
  std::int64_t element_bytes(BufferId id) const { return integer(size_of(at(id).element)); }

  // The position of a cell of the value, in the buffer's own box.
  tables::Argument cell(BufferId id, const ir::Point& point) const {
    Words strides = row_major_strides(at(id).box.shape());
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < point.size(); ++d)
      offset = checked::add(offset, checked::mul(point[d] - at(id).box.dims[d].lo, strides[d]));
    return {integer(id.index()), checked::mul(offset, element_bytes(id))};
  }
  tables::Argument origin(BufferId id) const { return cell(id, ir::Point(at(id).box.rank(), 0)); }
  tables::List arguments(const std::vector<ir::BufferMember>& buffers) {
    std::vector<tables::Argument> result;
    for (const ir::BufferMember& m : buffers) result.push_back(origin(m.id));
    most_arguments_ = std::max(most_arguments_, integer(buffers.size()));
    return all(result);
  }
  Words byte_strides(BufferId id) const {
    Words strides = row_major_strides(at(id).box.shape());
    for (std::int64_t& s : strides) s *= element_bytes(id);
    return strides;
  }

  Words encode(const ScheduledTask& task) {
    return std::visit([&](const auto& what) { return encode(task, what); }, task.what);
  }
  Words encode(const ScheduledTask& task, const KernelCall& call) { return encode(task, call, row_from({task}, 0)); }
  Words encode(const ScheduledTask& task, const KernelCall& call, const Row& row) {
    TAP_CHECK(call.box.rank() <= max_index_dims, "a kernel has more dims than the executor supports");
    for (std::size_t k = 0; k < call.buffers.size() && !kernels_.empty(); ++k)
      TAP_CHECK(has_known_strides(kernels_[call.kernel].tensors[k], at(call.buffers[k].id).box.shape()),
                "a kernel is called with other strides than its loops know");
    std::vector<tables::Counter> counters;
    for (const Counter& c : call.counters) counters.push_back({c.dim, c.level});
    tables::Task shared = head(tables::kernel_call, task);
    shared.tiles = checked::mul(shared.tiles, row.count);
    return words_of(tables::KernelCall{shared, row.count, put(row.box_step), put(row.argument_steps),
                                       integer(call.kernel), call.tiles, integer(call.operations),
                                       numbers(bounds(call.box)), arguments(call.buffers), put(strides_of(call)),
                                       all(counters)});
  }
  Words encode(const ScheduledTask& task, const CopyBox& copy) {
    ir::Point first;
    for (ir::Range r : copy.box.dims) first.push_back(r.lo);
    TAP_CHECK(copy.row.empty(), "a row of copies cannot be encoded as a single copy");
    TAP_CHECK(first.size() <= max_index_dims, "a tensor has more axes than the executor supports");
    return words_of(tables::Copy{head(tables::copy_box, task), cell(copy.from.id, first), cell(copy.to.id, first),
                                 element_bytes(copy.from.id), numbers(copy.box.shape()),
                                 put(byte_strides(copy.from.id)), put(byte_strides(copy.to.id))});
  }
  Words encode(const ScheduledTask& task, const Fill& fill) {
    return words_of(tables::Fill{head(tables::fill_buffer, task), integer(fill.buffer.id.index()),
                                 element_bytes(fill.buffer.id), at(fill.buffer.id).box.size(), bits_of(fill.value)});
  }
  Words encode(const ScheduledTask& task, const OutsideCall& call) {
    std::vector<tables::Region> regions;
    for (const ir::BufferMember& m : call.regions) {
      Shape shape = at(m.id).box.shape();
      regions.push_back({integer(m.id.index()), put(shape), put(row_major_strides(shape))});
    }
    most_arguments_ = std::max(most_arguments_, integer(regions.size()));
    return words_of(tables::OutsideCall{head(tables::outside_call, task), integer(call.outside),
                                        numbers(bounds(call.box)), put(call.extents), all(regions)});
  }
  Words encode(const ScheduledTask& task, const Iteration& loop) {
    std::vector<tables::State> states;
    for (const ir::ExchangedState& one : loop.states)
      states.push_back({integer(one.now.index()), integer(one.next.index())});
    return words_of(tables::Iteration{head(tables::iteration, task), loop.steps.lo, loop.steps.hi, integer(loop.body),
                                      all(states)});
  }

  std::int64_t depth(const Sequence& sequence) const {
    std::int64_t deepest = 0;
    for (const Batch& batch : sequence)
      for (const ScheduledTask& task : batch)
        if (auto* loop = std::get_if<Iteration>(&task.what))
          deepest = std::max(deepest, 1 + depth(schedule_.sequences[loop->body]));
    return deepest;
  }

  const Schedule schedule_;             // without rows of buffers
  const std::vector<Kernel>& kernels_;  // empty: only calls are asked for
  EqualTiles equal_tiles_;
  const Reach reach_;
  const std::int64_t scratch_;
  std::vector<std::int64_t> devices_;  // by buffer; empty: all are everywhere
  Words words_;
  std::map<Words, std::int64_t> known_;
  std::int64_t most_arguments_ = 0;
};

}  // namespace

std::int64_t most_scratch(const std::vector<Kernel>& kernels) {
  std::int64_t most = 0;
  for (const Kernel& kernel : kernels) most = std::max(most, integer(scratch_bytes(kernel)));
  return most;
}

EncodedSchedule encoded_calls(const Schedule& schedule, const std::vector<BufferDevice>& devices) {
  return Encoder(schedule, {}, devices).calls(schedule);
}

std::vector<std::int64_t> encode(const Schedule& schedule, const std::vector<Kernel>& kernels,
                                 const std::vector<std::string>& features, const std::vector<BufferDevice>& devices) {
  return Encoder(schedule, kernels, devices).run(features);
}

}  // namespace tap::backend
