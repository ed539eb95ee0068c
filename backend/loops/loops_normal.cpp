// The normal form of a kernel: variables and cells are numbered in the order in which the statements use them.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "backend/loops/loops_text.h"
#include "backend/loops/loops_words.h"
#include "ir/text_names.h"

namespace tap::backend {

using namespace ir;

namespace {

enum class Naming : std::uint8_t { own, numbered };

// Assigns distinct names.
class Names {
 public:
  std::string add(const std::string& wish) {
    std::string plain;
    for (char c : wish) plain += is_identifier("_" + std::string(1, c)) ? c : '_';
    if (!is_identifier(plain)) plain = "_" + plain;
    std::string name = plain;
    for (int n = 1; is_reserved(name) || !taken_.insert(name).second; ++n) name = fmt::format("{}_{}", plain, n);
    return name;
  }

 private:
  std::set<std::string> taken_;
};

class Normal {
 public:
  Normal(const Kernel& kernel, Naming naming) : old_(kernel), naming_(naming) {}
  Kernel run();

 private:
  void number_variables();
  void name();
  std::string wish(const std::string& own, std::string_view letter, std::size_t number) const {
    return naming_ == Naming::own ? own : fmt::format("{}{}", letter, number);
  }
  AffineExpr affine(const AffineExpr& e) const;
  CellId cell(CellId id);
  std::uint32_t load(std::uint32_t number);
  std::uint32_t slot(std::uint32_t number);
  std::vector<std::uint32_t> slots(const std::vector<std::uint32_t>& numbers);
  std::vector<CellId> cells(const std::vector<CellId>& ids);
  std::vector<Bound> bounds(const std::vector<Bound>& bounds) const;
  Constraint constraint(const Constraint& c) const { return {affine(c.expr), c.comparison}; }
  std::vector<Statement> block(const std::vector<Statement>& body);
  Statement statement(const For& loop);
  Statement statement(const Guard& guard);
  Statement statement(const Define& define);
  Statement statement(const Let& let) { return {Let{variables_[let.variable], cell(let.value)}}; }
  Statement statement(const Assign& assign) { return {Assign{slots(assign.slots), cells(assign.values)}}; }
  Statement statement(const Store& store);
  Statement statement(const Prefetch& prefetch);
  Statement statement(const FoldLanes& fold);
  Statement statement(const Section& section) { return {Section{section.section, block(section.body)}}; }

  const Kernel& old_;
  Naming naming_;
  Kernel new_;
  std::vector<std::uint32_t> variables_;  // new number by old number
  std::vector<std::optional<CellId>> cells_;
  std::vector<std::optional<std::uint32_t>> loads_, slots_;
};

// The box and its dims, then definitions in statement order, then variables without definition.
void Normal::number_variables() {
  constexpr std::uint32_t none = 0xffffffff;
  std::size_t fixed = std::min(3 * old_.dims, old_.variables.size());
  variables_.assign(old_.variables.size(), none);
  std::vector<std::uint32_t> order;
  for (std::uint32_t v = 0; v < fixed; ++v) order.push_back(v);
  for (std::uint32_t v : variables_defined(old_)) order.push_back(v);
  for (std::uint32_t v = 0; v < old_.variables.size(); ++v) order.push_back(v);
  for (std::uint32_t v : order) {
    if (variables_[v] != none) continue;
    variables_[v] = static_cast<std::uint32_t>(new_.variables.size());
    new_.variables.push_back(old_.variables[v]);
  }
}

void Normal::name() {
  Names names;
  std::vector<std::string>& all = new_.variables;
  for (std::size_t d = 0; d < new_.dims; ++d) all[new_.at(d)] = names.add(wish(all[new_.at(d)], "d", d));
  for (std::size_t d = 0; d < new_.dims; ++d) {
    all[new_.lo(d)] = names.add("lo_" + all[new_.at(d)]);
    all[new_.hi(d)] = names.add("hi_" + all[new_.at(d)]);
  }
  for (std::size_t v = 3 * new_.dims; v < all.size(); ++v) all[v] = names.add(wish(all[v], "v", v));
  for (std::size_t t = 0; t < new_.tensors.size(); ++t)
    new_.tensors[t].name = names.add(wish(new_.tensors[t].name, "t", t));
}

AffineExpr Normal::affine(const AffineExpr& e) const {
  AffineExpr result = AffineExpr::constant(new_.variables.size(), e.offset);
  for (std::size_t v = 0; v < e.coefficients.size(); ++v)
    if (e.coefficients[v] != 0) result.coefficients[variables_[v]] = e.coefficients[v];
  return result;
}

CellId Normal::cell(CellId id) {
  if (cells_[id.index()]) return *cells_[id.index()];
  CellNode node = old_.exprs[id];
  for (CellId& arg : node.args) arg = cell(arg);
  if (node.op == CellOp::index) node.attribute = variables_[node.attribute];
  if (node.op == CellOp::argument) node.attribute = slot(node.attribute);
  if (node.op == CellOp::read) node.attribute = load(node.attribute);
  return *(cells_[id.index()] = new_.exprs.add(std::move(node)));
}

template <class T>
std::uint32_t number_in(std::vector<T>& table, T entry) {
  auto found = std::find(table.begin(), table.end(), entry);
  auto number = static_cast<std::uint32_t>(found - table.begin());
  if (found == table.end()) table.push_back(std::move(entry));
  return number;
}

std::uint32_t Normal::load(std::uint32_t number) {
  if (loads_[number]) return *loads_[number];
  Load load = old_.loads[number];
  for (Coordinate& c : load.at) {
    if (c.data) c = {AffineExpr::constant(new_.variables.size(), 0), cell(*c.data), c.checked};
    else c.affine = affine(c.affine);
  }
  if (load.fill) load.fill = cell(*load.fill);
  return *(loads_[number] = number_in(new_.loads, std::move(load)));
}

std::uint32_t Normal::slot(std::uint32_t number) {
  if (slots_[number]) return *slots_[number];
  const Slot& slot = old_.slots[number];
  return *(slots_[number] = number_in(new_.slots, Slot{slot.accumulator, affine(slot.at)}));
}

std::vector<std::uint32_t> Normal::slots(const std::vector<std::uint32_t>& numbers) {
  std::vector<std::uint32_t> result;
  for (std::uint32_t n : numbers) result.push_back(slot(n));
  return result;
}
std::vector<CellId> Normal::cells(const std::vector<CellId>& ids) {
  std::vector<CellId> result;
  for (CellId id : ids) result.push_back(cell(id));
  return result;
}
std::vector<Bound> Normal::bounds(const std::vector<Bound>& bounds) const {
  std::vector<Bound> result;
  for (const Bound& b : bounds) result.push_back({affine(b.expr), b.divisor});
  return result;
}

std::vector<Statement> Normal::block(const std::vector<Statement>& body) {
  std::vector<Statement> result;
  for (const Statement& s : body)
    result.push_back(std::visit([&](const auto& node) { return statement(node); }, s.node));
  return result;
}

Statement Normal::statement(const For& loop) {
  For result;
  result.variable = variables_[loop.variable];
  result.lower = bounds(loop.lower);
  result.upper = bounds(loop.upper);
  result.descending = loop.descending;
  result.kind = loop.kind;
  result.step = loop.step;
  result.count = loop.count;
  result.body = block(loop.body);
  return {std::move(result)};
}

Statement Normal::statement(const Guard& guard) {
  Guard result;
  for (const Constraint& c : guard.conditions) result.conditions.push_back(constraint(c));
  if (guard.cell) result.cell = cell(*guard.cell);
  result.body = block(guard.body);
  return {std::move(result)};
}

// A single bound without a division is the same as lower and as upper bound.
Statement Normal::statement(const Define& define) {
  bool either = define.bounds.size() == 1 && define.bounds[0].divisor == 1;
  return {Define{variables_[define.variable], bounds(define.bounds), define.greatest || either}};
}

Statement Normal::statement(const Store& store) {
  Store result;
  for (const Store::Target& target : store.targets) {
    result.targets.push_back({target.tensor, {}, cell(target.value)});
    for (const AffineExpr& e : target.at) result.targets.back().at.push_back(affine(e));
  }
  return {std::move(result)};
}

Statement Normal::statement(const Prefetch& prefetch) {
  Prefetch result{prefetch.tensor, {}, prefetch.near};
  for (const AffineExpr& e : prefetch.at) result.at.push_back(affine(e));
  return {std::move(result)};
}

Statement Normal::statement(const FoldLanes& fold) {
  return {FoldLanes{slots(fold.from), slots(fold.to), slots(fold.first), slots(fold.second), cells(fold.values)}};
}

Kernel Normal::run() {
  new_.operands = old_.operands;
  new_.results = old_.results;
  new_.dims = old_.dims;
  new_.exact_arithmetic = old_.exact_arithmetic;
  new_.tile_dim = old_.tile_dim;
  if (old_.tile_dim) new_.grain = old_.grain;
  if (old_.tile_dim) new_.worth = old_.worth;
  new_.tensors = old_.tensors;
  new_.accumulators = old_.accumulators;
  cells_.resize(old_.exprs.size());
  loads_.resize(old_.loads.size());
  slots_.resize(old_.slots.size());
  number_variables();
  name();
  for (TensorArgument& tensor : new_.tensors)
    if (tensor.local)
      for (AffineExpr& e : tensor.local->origin) e = affine(e);
  for (SectionDims section : old_.sections) {
    for (auto* numbers : {&section.lo, &section.at})
      for (std::uint32_t& v : *numbers) v = variables_[v];
    new_.sections.push_back(std::move(section));
  }
  new_.body = block(old_.body);
  return std::move(new_);
}

}  // namespace

Kernel normal(const Kernel& kernel) { return Normal(kernel, Naming::own).run(); }

std::string canonical(const Kernel& kernel) { return print(Normal(kernel, Naming::numbered).run()); }

}  // namespace tap::backend
