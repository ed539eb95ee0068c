// Verifies the statements of kernels: scopes, and what straight-line code and lanes may contain.
#include <algorithm>
#include <bit>
#include <set>

#include "backend/loops/cell_placement.h"
#include "backend/loops/loops_verify_parts.h"

namespace tap::backend::verifying {

using namespace ir;
using ir::verifying::fits;
using ir::verifying::valid;

namespace {

class Statements {
 public:
  Statements(Violations& out, const Kernel& kernel)
      : out_(out), kernel_(kernel), places_(kernel, {}), scope_(kernel.variables.size(), false) {
    for (std::size_t v = 0; v < 2 * kernel.dims; ++v) scope_[v] = true;
  }
  void run() {
    enter_section(0);
    block(kernel_.body);
  }

 private:
  // The dependences of a statement's cells.
  struct Used {
    std::set<std::uint32_t> variables, slots;
  };

  const std::string& name(std::uint32_t v) const { return kernel_.variables[v]; }
  void block(const std::vector<Statement>& body);
  bool define(std::uint32_t variable);
  void affine(const AffineExpr& e);
  void bounds(const std::vector<Bound>& bounds);
  void enter_section(std::uint32_t number);
  Used used(const std::vector<CellId>& roots);
  void need(std::uint32_t tensor, Used& used);
  bool cells(const std::vector<CellId>& roots, std::uint32_t lanes, bool straight);
  void slot(std::uint32_t number);
  std::uint32_t lanes_of(std::uint32_t slot) const {
    return kernel_.accumulators[kernel_.slots[slot].accumulator].lanes;
  }
  // The first equal slot.
  std::uint32_t same_as(std::uint32_t slot) const {
    const auto& all = kernel_.slots;
    return static_cast<std::uint32_t>(std::find(all.begin(), all.end(), all[slot]) - all.begin());
  }
  bool depends_on_lanes(const AffineExpr& e) const {
    return lanes_ && lanes_->variable < e.coefficients.size() && e.coefficients[lanes_->variable] != 0;
  }
  bool not_in_lanes(std::string_view what) {
    return out_.expect(!lanes_, "{} occurs in the lanes of {}", what, lanes_ ? name(lanes_->variable) : "");
  }

  void statement(const For& loop);
  void kind(const For& loop);
  void statement(const Guard& guard);
  void statement(const Define& define);
  void statement(const Let& let);
  void statement(const Assign& assign);
  void statement(const Store& store);
  void statement(const Prefetch& prefetch);
  void tensor_access(std::uint32_t tensor, const std::vector<AffineExpr>& at);
  void statement(const FoldLanes& fold);
  void statement(const Section& section);

  Violations& out_;
  const Kernel& kernel_;
  CellPlacement places_;
  std::vector<bool> scope_;
  std::vector<const For*> unrolled_;  // enclosing ones, outermost first
  const For* lanes_ = nullptr;
};

// Definitions are in scope until the end of their block.
void Statements::block(const std::vector<Statement>& body) {
  std::vector<bool> outside = scope_;
  for (const Statement& s : body) std::visit([&](const auto& node) { statement(node); }, s.node);
  scope_ = std::move(outside);
}

bool Statements::define(std::uint32_t variable) {
  if (!out_.expect(variable < kernel_.variables.size(), "variable {} of {}", variable, kernel_.variables.size()))
    return false;
  if (!out_.expect(!scope_[variable], "{} is already defined in this scope", name(variable))) return false;
  return scope_[variable] = true;
}

void Statements::affine(const AffineExpr& e) {
  if (!out_.expect(e.coefficients.size() <= scope_.size(), "an expression has {} coefficients for {} variables",
                   e.coefficients.size(), scope_.size()))
    return;
  for (std::uint32_t v = 0; v < e.coefficients.size(); ++v)
    if (e.coefficients[v] != 0) out_.expect(scope_[v], "{} is used out of scope", name(v));
}

void Statements::bounds(const std::vector<Bound>& bounds) {
  for (const Bound& b : bounds) {
    affine(b.expr);
    out_.expect(b.divisor >= 1, "a bound is divided by {}", b.divisor);
    out_.expect(!depends_on_lanes(b.expr), "a bound depends on the lanes of {}", lanes_ ? name(lanes_->variable) : "");
  }
}

void Statements::enter_section(std::uint32_t number) {
  if (!out_.expect(number < kernel_.sections.size(), "section {} of {}", number, kernel_.sections.size())) return;
  for (std::uint32_t v : kernel_.sections[number].lo)
    out_.expect(scope_[v], "section {} begins at {}, which is not in scope", number, name(v));
}

void Statements::need(std::uint32_t tensor, Used& used) {
  if (const auto& local = kernel_.tensors[tensor].local)
    for (const AffineExpr& e : local->origin)
      for (std::uint32_t v = 0; v < e.coefficients.size(); ++v)
        if (e.coefficients[v] != 0) used.variables.insert(v);
}

Statements::Used Statements::used(const std::vector<CellId>& roots) {
  Used found;
  std::set<CellId> seen;
  std::vector<CellId> open = roots;
  while (!open.empty()) {
    CellId id = open.back();
    open.pop_back();
    if (!seen.insert(id).second) continue;
    const CellNode& node = kernel_.exprs[id];
    if (node.op == CellOp::index) found.variables.insert(node.attribute);
    if (node.op == CellOp::argument) found.slots.insert(node.attribute);
    if (node.op == CellOp::read) {
      const Load& load = kernel_.loads[node.attribute];
      need(load.tensor, found);
      for (const Coordinate& c : load.at)
        for (std::uint32_t v = 0; v < c.affine.coefficients.size(); ++v)
          if (!c.data && c.affine.coefficients[v] != 0) found.variables.insert(v);
    }
    for (CellId other : needs(kernel_, id)) open.push_back(other);
  }
  return found;
}

// Verifies a statement's cells, whose values have this many lanes; false if further checks would be meaningless.
bool Statements::cells(const std::vector<CellId>& roots, std::uint32_t lanes, bool straight) {
  for (CellId root : roots)
    if (!out_.expect(valid(root, kernel_.exprs), "a statement has no cell")) return false;
  Used found = used(roots);
  for (std::uint32_t v : found.variables) out_.expect(scope_[v], "{} is used out of scope", name(v));
  for (std::uint32_t s : found.slots) {
    slot(s);
    out_.expect(lanes_of(s) == 1 || lanes_of(s) == lanes, "acc{} has {} lanes, but {} are computed",
                kernel_.slots[s].accumulator, lanes_of(s), lanes);
  }
  if (straight)
    for (CellId root : roots) out_.expect(places_.harmless(root), "straight-line code computes a cell that may fail");
  return true;
}

// An array index must be constant once loops are unrolled: it depends only on their passes.
void Statements::slot(std::uint32_t number) {
  if (!out_.expect(number < kernel_.slots.size(), "slot {} of {}", number, kernel_.slots.size())) return;
  const Slot& slot = kernel_.slots[number];
  std::int64_t least = slot.at.offset, greatest = slot.at.offset;
  std::size_t found = 0, expected = 0;
  for (std::int64_t c : slot.at.coefficients) expected += c != 0;
  for (const For* loop : unrolled_) {
    std::int64_t c = loop->variable < slot.at.coefficients.size() ? slot.at.coefficients[loop->variable] : 0;
    found += c != 0;
    (c < 0 ? least : greatest) += c * (static_cast<std::int64_t>(loop->count) - 1);
  }
  std::uint32_t count = kernel_.accumulators[slot.accumulator].count;
  if (out_.expect(found == expected, "the index of acc{} is not a number after unrolling", slot.accumulator))
    out_.expect(least >= 0 && greatest < count, "acc{}[{}..{}] of {}", slot.accumulator, least, greatest + 1, count);
}

void Statements::statement(const For& loop) {
  if (!out_.expect(loop.variable < scope_.size(), "variable {} of {}", loop.variable, scope_.size())) return;
  Violations::Scope at(out_, "loop {}", name(loop.variable));
  out_.expect(!loop.lower.empty(), "it has no lower bound");
  bounds(loop.lower);
  bounds(loop.upper);
  kind(loop);
  const std::vector<bool> outside = scope_;
  if (!define(loop.variable)) return;
  const For* outer_lanes = lanes_;
  if (loop.kind == LoopKind::unrolled) unrolled_.push_back(&loop);
  if (loop.kind == LoopKind::lanes) lanes_ = &loop;
  block(loop.body);
  if (loop.kind == LoopKind::unrolled) unrolled_.pop_back();
  lanes_ = outer_lanes;
  scope_ = outside;
}

void Statements::kind(const For& loop) {
  bool serial = loop.kind == LoopKind::serial;
  out_.expect(loop.step >= 1, "its step is {}", loop.step);
  out_.expect(loop.step == 1 || (serial && !loop.descending), "it cannot have a step of {}", loop.step);
  out_.expect(serial || !loop.descending, "only a serial loop goes down");
  switch (loop.kind) {
    case LoopKind::serial:
      out_.expect(!loop.upper.empty(), "it has no upper bound");
      out_.expect(loop.count == 0, "a serial loop must not have the count {}", loop.count);
      not_in_lanes("a serial loop");
      break;
    case LoopKind::unrolled:
      out_.expect(loop.upper.empty(), "an unrolled loop has an upper bound");
      out_.expect(loop.count >= 1, "it is unrolled {} times", loop.count);
      break;
    case LoopKind::lanes:
      out_.expect(loop.count >= 2 && std::has_single_bit(loop.count), "{} lanes are not a power of two", loop.count);
      not_in_lanes("a loop over lanes");
      break;
  }
}

void Statements::statement(const Guard& guard) {
  not_in_lanes("a condition");
  for (const Constraint& c : guard.conditions) affine(c.expr);
  if (guard.cell && cells({*guard.cell}, 1, false))
    out_.expect(is_bool(kernel_.exprs[*guard.cell].type), "a condition is {}",
                name_of(kernel_.exprs[*guard.cell].type));
  block(guard.body);
}

void Statements::statement(const Define& its) {
  out_.expect(!its.bounds.empty(), "a variable has no definition");
  bounds(its.bounds);
  define(its.variable);
}

void Statements::statement(const Let& let) {
  not_in_lanes("a variable from data");
  if (cells({let.value}, 1, false))
    out_.expect(kernel_.exprs[let.value].type == ElementType::i64, "a variable is {}, expected i64",
                name_of(kernel_.exprs[let.value].type));
  define(let.variable);
}

void Statements::statement(const Assign& assign) {
  if (!out_.expect(!assign.slots.empty() && assign.slots.size() == assign.values.size(), "{} cells for {} accumulators",
                   assign.values.size(), assign.slots.size()))
    return;
  std::set<std::uint32_t> targets;
  for (std::uint32_t s : assign.slots) {
    if (!out_.expect(s < kernel_.slots.size(), "slot {} of {}", s, kernel_.slots.size())) return;
    slot(s);
    out_.expect(targets.insert(same_as(s)).second, "acc{} is assigned twice at once", kernel_.slots[s].accumulator);
    out_.expect(lanes_of(s) == lanes_of(assign.slots[0]), "accumulators of {} and {} lanes are assigned at once",
                lanes_of(assign.slots[0]), lanes_of(s));
    if (lanes_)
      out_.expect(lanes_of(s) == lanes_->count, "acc{} has {} lanes, but is assigned {}", kernel_.slots[s].accumulator,
                  lanes_of(s), lanes_->count);
  }
  std::uint32_t lanes = lanes_of(assign.slots[0]);
  if (!cells(assign.values, lanes, lanes > 1 || lanes_ || !unrolled_.empty())) return;
  for (std::size_t k = 0; k < assign.slots.size(); ++k) {
    ElementType expected = kernel_.accumulators[kernel_.slots[assign.slots[k]].accumulator].type;
    ElementType found = kernel_.exprs[assign.values[k]].type;
    out_.expect(fits(found, expected), "{} is assigned to an accumulator of {}", name_of(found), name_of(expected));
  }
}

void Statements::tensor_access(std::uint32_t tensor, const std::vector<AffineExpr>& at) {
  const std::size_t axes = kernel_.tensors[tensor].type.shape.size();
  out_.expect(at.size() == axes, "{} coordinates for {} axes", at.size(), axes);
  Used needed;
  need(tensor, needed);
  for (std::uint32_t v : needed.variables) out_.expect(scope_[v], "{} is used out of scope", name(v));
  for (const AffineExpr& e : at) affine(e);
}

void Statements::statement(const Prefetch& prefetch) {
  if (out_.expect(prefetch.tensor < kernel_.tensors.size(), "prefetch of tensor {}, but there are {}", prefetch.tensor,
                  kernel_.tensors.size()))
    tensor_access(prefetch.tensor, prefetch.at);
}

void Statements::statement(const Store& store) {
  out_.expect(!store.targets.empty(), "nothing is stored");
  std::vector<CellId> values;
  for (const Store::Target& target : store.targets) {
    values.push_back(target.value);
    if (!out_.expect(target.tensor >= kernel_.operands && target.tensor < kernel_.tensors.size(),
                     "store to tensor {}, which is not a result", target.tensor))
      return;
    tensor_access(target.tensor, target.at);
  }
  if (!cells(values, lanes_ ? lanes_->count : 1, lanes_ || !unrolled_.empty())) return;
  for (const Store::Target& target : store.targets) {
    ElementType expected = kernel_.tensors[target.tensor].type.element, found = kernel_.exprs[target.value].type;
    out_.expect(fits(found, expected), "{} is stored to a tensor of {}", name_of(found), name_of(expected));
  }
}

void Statements::statement(const FoldLanes& fold) {
  not_in_lanes("a fold");
  std::size_t size = fold.from.size();
  bool alike = size > 0 && fold.to.size() == size && fold.first.size() == size && fold.second.size() == size &&
               fold.values.size() == size;
  if (!out_.expect(alike, "a fold of accumulators has lists of different lengths")) return;
  for (const auto* slots : {&fold.from, &fold.to, &fold.first, &fold.second})
    for (std::uint32_t s : *slots)
      if (!out_.expect(s < kernel_.slots.size(), "slot {} of {}", s, kernel_.slots.size())) return;
  auto type_of = [&](std::uint32_t s) { return kernel_.accumulators[kernel_.slots[s].accumulator].type; };
  std::set<std::uint32_t> placeholders, targets;
  for (std::size_t k = 0; k < size; ++k) {
    slot(fold.from[k]);
    slot(fold.to[k]);
    out_.expect(targets.insert(same_as(fold.to[k])).second, "a fold writes acc{} twice",
                kernel_.slots[fold.to[k]].accumulator);
    for (std::uint32_t s : {fold.first[k], fold.second[k]})
      out_.expect(placeholders.insert(same_as(s)).second, "a fold uses a name twice");
    for (std::uint32_t s : {fold.to[k], fold.first[k], fold.second[k]})
      out_.expect(type_of(s) == type_of(fold.from[k]), "a fold combines {}, but its accumulator is {}",
                  name_of(type_of(fold.from[k])), name_of(type_of(s)));
    out_.expect(lanes_of(fold.from[k]) >= 2 && lanes_of(fold.from[k]) == lanes_of(fold.from[0]),
                "a fold combines {} and {} lanes; they must be equal, and at least 2", lanes_of(fold.from[k]),
                lanes_of(fold.from[0]));
    out_.expect(lanes_of(fold.to[k]) == 1, "a fold produces {} lanes, expected 1", lanes_of(fold.to[k]));
  }
  for (CellId value : fold.values)
    if (!out_.expect(valid(value, kernel_.exprs), "a value of a fold is not a cell")) return;
  for (std::uint32_t s : used(fold.values).slots)
    out_.expect(placeholders.contains(same_as(s)), "a fold computes with acc{}", kernel_.slots[s].accumulator);
  for (std::size_t k = 0; k < size; ++k) {
    out_.expect(places_.harmless(fold.values[k]), "a fold computes a cell that may fail");
    ElementType found = kernel_.exprs[fold.values[k]].type;
    out_.expect(fits(found, type_of(fold.to[k])), "a fold must produce {}, but produces {}",
                name_of(type_of(fold.to[k])), name_of(found));
  }
  for (std::uint32_t v : used(fold.values).variables) out_.expect(scope_[v], "{} is used out of scope", name(v));
}

void Statements::statement(const Section& section) {
  not_in_lanes("a section");
  enter_section(section.section);
  block(section.body);
}

}  // namespace

void verify_statements(Violations& out, const Kernel& kernel) { Statements(out, kernel).run(); }

}  // namespace tap::backend::verifying
