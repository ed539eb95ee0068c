#include "cost/work/instruction_walk.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "cost/work/dependence_chain.h"
#include "cost/work/few_steps.h"
#include "cost/work/fused_products.h"
#include "cost/work/instruction_of.h"
#include "cost/work/line_crossings.h"
#include "cost/work/loop_walk.h"
#include "cost/work/phases.h"
#include "cost/work/shared_loads.h"
#include "cost/work/vector_units.h"

namespace tap::cost {

using namespace backend;
using ir::CellId, ir::CellNode, ir::CellOp;

namespace {

// A loop around the current statement.
struct Around {
  const For* loop = nullptr;
  double rounds = 1;
  double lanes = 1, used = 1;
};

// The work in the iterations of one serial loop, without its inner loops.
struct Round {
  UnitTimes units;
  double quotients = 0, loads = 0, stores = 0, rounds = 0;  // seconds
  double chain = 0;                                         // seconds in a dependence chain
};

class InstructionWalk {
 public:
  InstructionWalk(const Kernel& kernel, const ir::Box& box, const Device& device, KernelWork& work)
      : kernel_(kernel),
        device_(device),
        work_(work),
        values_(kernel, box),
        decides_(deciding_variables(kernel)),
        phases_(phases_of(kernel)),
        fused_(kernel) {
    if (phases_) work_.phases.resize(phases_->size());
  }

  void run() {
    visit(kernel_.body, 1);
    close();
  }

 private:
  void close() {
    const double busy =
        std::max({round_.units.longest(), round_.quotients, round_.loads, round_.stores, round_.rounds});
    work_.busy += busy;
    work_.waiting += std::max(round_.chain - busy, 0.0);
    round_ = {};
  }

  void visit(const std::vector<Statement>& body, double share) {
    if (&body == phases_) work_.phase_runs += executions(all_loops()) * share;
    for (std::size_t s = 0; s < body.size(); ++s) {
      const double before = work_.busy + work_.waiting;
      std::visit([&](const auto& node) { see(node, share); }, body[s].node);
      if (&body == phases_) work_.phases[s].seconds += work_.busy + work_.waiting - before;
    }
  }

  void see(const For& loop, double share) {
    const Rounds rounds = rounds_of(loop, values_);
    if (around_.size() >= 60) return;
    const LoopSet bit = LoopSet{1} << around_.size();
    const bool serial = loop.kind == LoopKind::serial;
    const Round outer = serial ? std::exchange(round_, {}) : Round{};
    LoopSet outer_loops = 0;
    for (const auto* bounds : {&loop.lower, &loop.upper})
      for (const Bound& bound : *bounds) outer_loops |= values_.loops_of(bound.expr);
    const bool lanes = loop.kind == LoopKind::lanes;
    for (const Sample& sample : samples_of(loop, rounds, decides_[loop.variable])) {
      around_.push_back({&loop, lanes ? 1 : sample.times, rounds.lanes, rounds.used});
      values_.set(loop.variable, {sample.value, sample.value}, outer_loops | bit);
      if (serial) {
        const double times = executions(~LoopSet{0}) * share;
        work_.rounds += times;
        round_.rounds += times / device_.steps;
      }
      visit(loop.body, share);
      around_.pop_back();
    }
    if (!serial) return;
    close();
    round_ = outer;
  }
  void see(const Guard& guard, double share) {
    const double inside = share * share_of(kernel_, guard, values_);
    if (guard.cell) cells({*guard.cell}, share);
    if (inside > 0) visit(guard.body, inside);
  }
  void see(const Define& define, double) { values_.define(define); }
  void see(const Let& let, double share) {
    cells({let.value}, share);
    // A data-dependent value: it may be anywhere, and differs in each iteration.
    values_.set(let.variable, {0, 0}, all_loops());
  }
  void see(const Assign& assign, double share) {
    cells(assign.values, share);
    wait(assign, share);
  }
  void see(const Store& store, double share) {
    std::vector<CellId> values;
    for (const Store::Target& target : store.targets) values.push_back(target.value);
    cells(values, share);
    for (const Store::Target& target : store.targets) count_store(target, share);
  }
  void see(const Prefetch&, double share) {
    const double times = executions(all_loops()) * share;
    work_.loads += times;
    round_.loads += times / device_.loads;
  }
  // Half of the lanes, a quarter, …, each with a shuffle.
  void see(const FoldLanes& fold, double share) {
    if (fold.from.empty()) return;
    const Accumulator& from = accumulator(fold.from[0]);
    const double steps = std::log2(std::max<double>(from.lanes, 2));
    const double times = executions(all_loops()) * share;
    for (double s = 0; s < steps; ++s) {
      cells(fold.values, share, false);
      const double shuffles = times * static_cast<double>(fold.from.size());
      add(from.type, Instruction::arithmetic, shuffles, 1, 0);
    }
    round_.chain += times * steps * 2 * device_.latency * 0.5;  // overlaps with other iterations
  }
  void see(const Section& section, double share) { visit(section.body, share); }

  LoopSet all_loops() const { return around_.empty() ? 0 : (LoopSet{1} << around_.size()) - 1; }
  const Accumulator& accumulator(std::uint32_t slot) const {
    return kernel_.accumulators[kernel_.slots[slot].accumulator];
  }

  // How often an operation that depends on these loops is executed: invariants are hoisted out of inner loops, and
  // shared in unrolled ones.
  double executions(LoopSet loops) const {
    std::size_t innermost = 0;  // one past the innermost serial loop that it depends on
    for (std::size_t l = 0; l < around_.size(); ++l)
      if ((loops >> l & 1) && around_[l].loop->kind == LoopKind::serial) innermost = l + 1;
    double times = 1;
    for (std::size_t l = 0; l < around_.size(); ++l) times *= l < innermost || (loops >> l & 1) ? around_[l].rounds : 1;
    return times;
  }
  const Around* lanes_in(LoopSet loops) const {
    for (std::size_t l = around_.size(); l-- > 0;)
      if ((loops >> l & 1) && around_[l].loop->kind == LoopKind::lanes) return &around_[l];
    return nullptr;
  }

  LoopSet serial_loops() const {
    LoopSet found = 0;
    for (std::size_t l = 0; l < around_.size(); ++l)
      if (around_[l].loop->kind == LoopKind::serial) found |= LoopSet{1} << l;
    return found;
  }

  LoopSet loops_of(CellId id) {
    if (auto known = known_.find(id); known != known_.end()) return known->second;
    const CellNode& node = kernel_.exprs[id];
    LoopSet loops = 0;
    if (node.op == CellOp::index) loops = values_.loops_of(node.attribute);
    if (node.op == CellOp::argument) {
      const Slot& slot = kernel_.slots[node.attribute];
      loops = serial_loops() | values_.loops_of(slot.at);
      if (kernel_.accumulators[slot.accumulator].lanes > 1) loops |= innermost_lanes();
    }
    if (node.op == CellOp::read)
      for (const Coordinate& c : kernel_.loads[node.attribute].at) loops |= values_.loops_of(c.affine);
    for (CellId below : needs(kernel_, id)) loops |= loops_of(below);
    known_.emplace(id, loops);
    return loops;
  }
  LoopSet innermost_lanes() const {
    for (std::size_t l = around_.size(); l-- > 0;)
      if (around_[l].loop->kind == LoopKind::lanes) return LoopSet{1} << l;
    return 0;
  }

  // Counts each cell that the roots need, once. `fresh`: with the current lanes; else as scalars.
  void cells(const std::vector<CellId>& roots, double share, bool fresh = true) {
    known_.clear();
    std::unordered_set<CellId> seen;
    std::vector<CellId> open = roots, counted;
    while (!open.empty()) {
      const CellId id = open.back();
      open.pop_back();
      if (!seen.insert(id).second) continue;
      if (fresh || kernel_.exprs[id].op != CellOp::argument) counted.push_back(id);
      for (CellId below : needs(kernel_, id)) open.push_back(below);
    }
    find_shared(counted);
    for (CellId id : counted) count(id, share);
  }
  void find_shared(const std::vector<CellId>& cells) {
    std::vector<CellId> reads;
    std::vector<const Load*> loads;
    for (CellId id : cells)
      if (kernel_.exprs[id].op == CellOp::read) {
        reads.push_back(id);
        loads.push_back(&kernel_.loads[kernel_.exprs[id].attribute]);
      }
    fractions_.clear();
    checked_.clear();
    const std::vector<double> fractions = fractions_of_loads(loads, unrolled());
    for (std::size_t r = 0; r < reads.size(); ++r) fractions_.emplace(reads[r], fractions[r]);
  }
  template <class Keep>
  std::vector<Progress> around(Keep keep) const {
    std::vector<Progress> loops;
    for (const Around& a : around_)
      if (keep(a)) loops.push_back({a.loop->variable, static_cast<double>(a.loop->step), a.rounds});
    return loops;
  }

  std::vector<Progress> unrolled() const {
    return around([](const Around& a) { return a.loop->kind == LoopKind::unrolled; });
  }

  void count(CellId id, double share) {
    const CellNode& node = kernel_.exprs[id];
    const LoopSet loops = loops_of(id);
    const double times = executions(loops) * share;
    if (node.op == CellOp::read) return count_load(kernel_.loads[node.attribute], loops, times * fractions_.at(id));
    const std::optional<Instruction> kind = instruction_of(kernel_.exprs, id);
    if (!kind) return;
    const ElementType type = node.op != CellOp::cast && *kind == Instruction::compare && !node.args.empty()
                                 ? kernel_.exprs[node.args.back()].type
                                 : node.type;
    if (node.op == CellOp::cast && compute_type(kernel_.exprs[node.args[0]].type) == compute_type(node.type) &&
        size_of(kernel_.exprs[node.args[0]].type) == size_of(node.type))
      return;
    if (fused_.is_product(id)) return;
    const Around* lanes = lanes_in(loops);
    const bool fused = fused_.is_sum(node);
    add(type, fused ? Instruction::arithmetic : *kind, times, lanes ? lanes->lanes : 1, lanes ? lanes->used : 1);
    if (node.op != CellOp::cast && *kind != Instruction::compare)
      work_.operations += times * (lanes ? lanes->used : 1) * (fused ? 2 : 1);
  }

  double registers(ElementType type, double lanes) const {
    return std::ceil(lanes * static_cast<double>(size_of(compute_type(type))) /
                     static_cast<double>(device_.core.vector_bytes));
  }

  void add(ElementType type, Instruction kind, double times, double lanes, double used) {
    const double full = registers(type, lanes) * times;
    work_.instructions.of(type, kind) += full;
    const UnitTimes times_of = unit_times(device_, type, kind, full);
    // Quotients and roots have their own unit, so other instructions overlap.
    if (kind == Instruction::divide || kind == Instruction::root) round_.quotients += times_of.all;
    else cost::add(round_.units, times_of);
    if (lanes > 1) {
      work_.lanes += lanes * times;
      work_.lanes_used += used * times;
    }
  }

  static std::vector<ir::AffineExpr> affine(const std::vector<Coordinate>& at) {
    std::vector<ir::AffineExpr> expressions;
    for (const Coordinate& c : at) expressions.push_back(c.affine);
    return expressions;
  }
  double crossings(std::uint32_t tensor, const std::vector<ir::AffineExpr>& at, const Around& lanes) const {
    const ir::TensorType& type = kernel_.tensors[tensor].type;
    const auto width =
        std::min(static_cast<std::int64_t>(lanes.lanes) * static_cast<std::int64_t>(size_of(type.element)),
                 static_cast<std::int64_t>(device_.core.vector_bytes));
    return accesses_per_vector(at, type, around([&](const Around& a) { return &a != &lanes; }),
                               std::max<std::int64_t>(width, 1), device_.core.line_bytes);
  }

  void count_load(const Load& load, LoopSet loops, double times) {
    double each = 1;
    const ElementType type = kernel_.tensors[load.tensor].type.element;
    bool is_gather = false;
    if (const Around* lanes = lanes_in(loops); lanes && !load.at.empty()) {
      const std::uint32_t v = lanes->loop->variable;
      bool data = false, across = false;
      for (std::size_t a = 0; a < load.at.size(); ++a) {
        data |= load.at[a].data.has_value();
        across |= a + 1 < load.at.size() && LoopValues::step_of(load.at[a].affine, v) != 0;
      }
      const std::int64_t step = LoopValues::step_of(load.at.back().affine, v);
      const std::int64_t few = data ? 0 : few_steps(affine(load.at), kernel_.tensors[load.tensor].type, v);
      is_gather = few == 0 && (data || across || (step != 1 && step != 0 && step != -1));
      each = is_gather           ? 0
             : step == 0 && !few ? 1
                                 : registers(type, lanes->lanes) * crossings(load.tensor, affine(load.at), *lanes);
      if (few > 0) {
        each *= static_cast<double>(few);
        add(type, Instruction::convert, times * static_cast<double>(few - 1), lanes->lanes, lanes->used);  // shuffles
      }
      if (is_gather) add(type, Instruction::gather, times, lanes->lanes, lanes->used);
    }
    work_.loads += times * each;
    round_.loads += times * each / device_.loads;
    count_checks(load, loops, times);
    if (type != compute_type(type)) {
      const Around* lanes = lanes_in(loops);
      add(type, Instruction::convert, times, lanes ? lanes->lanes : 1, lanes ? lanes->used : 1);
    }
  }

  // Two comparisons of a coordinate, which all loads of a statement share; for each load its mask.
  void count_checks(const Load& load, LoopSet loops, double times) {
    bool any = false;
    for (const Coordinate& c : load.at) {
      if (!c.checked) continue;
      any = true;
      if (!c.data && std::ranges::count(checked_, c.affine) > 0) continue;
      checked_.push_back(c.affine);
      compare(2 * std::min(times, executions(c.data ? loops : values_.loops_of(c.affine))));
    }
    if (any) compare(times);
  }
  void compare(double times) {
    const auto width = static_cast<double>(device_.core.vector_bytes) / 4;
    add(ElementType::i32, Instruction::compare, times, width, width);
  }

  void count_store(const Store::Target& target, double share) {
    const ElementType type = kernel_.tensors[target.tensor].type.element;
    const double times = executions(all_loops()) * share;
    const Around* lanes = lanes_in(innermost_lanes());
    double each = 1;
    if (lanes && !target.at.empty()) {
      const std::uint32_t v = lanes->loop->variable;
      bool across = false;
      for (std::size_t a = 0; a + 1 < target.at.size(); ++a) across |= LoopValues::step_of(target.at[a], v) != 0;
      if (!across && LoopValues::step_of(target.at.back(), v) == 1) {
        each = registers(type, lanes->lanes) * crossings(target.tensor, target.at, *lanes);
      } else if (const std::int64_t few = few_steps(target.at, kernel_.tensors[target.tensor].type, v); few > 0) {
        const double vectors = std::max(static_cast<double>(few) / rows_across(target, v, unrolled()), 1.0);
        each = vectors * registers(type, lanes->lanes);
        add(type, Instruction::convert, times * vectors, lanes->lanes, lanes->used);  // shuffles
      } else if (rows_across(target, v, unrolled()) >= 4) {
        each = registers(type, lanes->lanes);
        add(type, Instruction::convert, times * 2, lanes->lanes, lanes->used);  // shuffles
      } else {
        each = 0;
        add(type, Instruction::gather, times, lanes->lanes, lanes->used);
      }
    }
    work_.stores += times * each;
    round_.stores += times * each / device_.stores;
  }
  void wait(const Assign& assign, double share) {
    for (std::size_t k = 0; k < assign.values.size() && k < assign.slots.size(); ++k) {
      const Slot& slot = kernel_.slots[assign.slots[k]];
      const double chain = chain_from(slot.accumulator, assign.values[k], kernel_, device_, fused_);
      if (chain <= 0) continue;
      const LoopSet along = values_.loops_of(slot.at);
      double times = share;  // serial; unrolled loops with separate registers do not count
      bool innermost = true;
      for (std::size_t l = around_.size(); l-- > 0;) {
        const bool serial = around_[l].loop->kind == LoopKind::serial;
        if (serial || (!(along >> l & 1) && innermost)) times *= around_[l].rounds;
        innermost &= !serial;
      }
      round_.chain = std::max(round_.chain, chain * times);
    }
  }

  const Kernel& kernel_;
  const Device& device_;
  KernelWork& work_;
  LoopValues values_;
  const std::vector<bool> decides_;
  const std::vector<Statement>* phases_;
  std::vector<Around> around_;
  Round round_;
  std::unordered_map<CellId, LoopSet> known_;
  FusedProducts fused_;
  std::unordered_map<CellId, double> fractions_;  // of the reads of the current statement: what is loaded
  std::vector<ir::AffineExpr> checked_;           // coordinates that its reads compare
};

}  // namespace

void count_instructions(const Kernel& kernel, const ir::Box& box, const Device& device, KernelWork& work) {
  InstructionWalk(kernel, box, device, work).run();
}

}  // namespace tap::cost
