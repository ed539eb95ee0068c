// Which axes the items between brackets stand for, and what range a variable gets from them.
#include "tests/oracle/cells.h"

namespace tap::oracle {

void CellCompiler::reads_below(ast::ExprId id, const std::function<void(const ast::Index&)>& visit) const {
  auto all = [&](auto&... ids) { (reads_below(ids, visit), ...); };
  const auto& node = module_[id].node;
  if (auto* x = std::get_if<ast::Index>(&node)) {
    visit(*x);
    for (ast::ExprId i : x->indices) all(i);
    if (x->fill) all(*x->fill);
  } else if (auto* c = std::get_if<ast::Call>(&node)) {
    for (const ast::Arg& a : c->args) all(a.value);
  } else if (auto* u = std::get_if<ast::Unary>(&node)) {
    all(u->operand);
  } else if (auto* b = std::get_if<ast::Binary>(&node)) {
    all(b->left, b->right);
  } else if (auto* i = std::get_if<ast::If>(&node)) {
    all(i->condition, i->then_value, i->else_value);
  } else if (auto* l = std::get_if<ast::Let>(&node)) {
    for (const ast::LetBinding& binding : l->bindings) all(binding.value);
    all(l->body);
  } else if (auto* r = std::get_if<ast::Reduce>(&node)) {
    for (ast::ExprId o : r->operands) all(o);
  } else if (auto* t = std::get_if<ast::Tuple>(&node)) {
    for (ast::ExprId item : t->items) all(item);
  }
}

std::optional<std::vector<CellCompiler::Axes>> CellCompiler::aligned(const std::vector<ast::ExprId>& items,
                                                                     const Cells& tensor, const Names& names) const {
  std::vector<Axes> axes;
  std::size_t first = 0;
  bool as_declared = items.size() == tensor.items.size();
  for (std::size_t k = 0; as_declared && k < items.size(); ++k)
    as_declared = tensor.items[k].pack == (pack(items[k]) != nullptr);
  if (as_declared) {
    for (const Cells::Item& item : tensor.items) axes.push_back({first, item.rank}), first += item.rank;
    return axes;
  }
  // A pack that nothing tells of, or one that is aligned at the right, takes what is left.
  std::size_t fixed = 0, packs = 0, known = 0;
  for (ast::ExprId id : items) {
    if (!pack(id)) ++fixed;
    else if (const Entry* entry = names.find(pack(id)->name, Entry::variables)) ++packs, known += entry->slots.size();
    else ++packs;
  }
  if (fixed > tensor.rank() || (packs == 0 && fixed != tensor.rank())) return std::nullopt;
  const std::size_t left = tensor.rank() - fixed;
  for (ast::ExprId id : items) {
    std::size_t count = 1;
    if (pack(id)) {
      const Entry* entry = names.find(pack(id)->name, Entry::variables);
      if (packs > 1 && !entry) return std::nullopt;
      count = packs == 1 ? left : entry->slots.size();
    }
    axes.push_back({first, count});
    first += count;
  }
  if (packs > 1 && known != left) return std::nullopt;
  return axes;
}

std::optional<std::vector<std::int64_t>> CellCompiler::extents(const std::string& name,
                                                               const std::vector<ast::ExprId>& reads,
                                                               const Names& names) const {
  std::optional<std::vector<std::int64_t>> found;
  auto look = [&](const ast::Index& index) {
    const Entry* entry = names.find(index.base.text);
    if (!entry || !entry->cells) return;
    complete(*entry->cells);
    auto axes = aligned(index.indices, *entry->cells, names);
    if (!axes) return;
    for (std::size_t k = 0; k < index.indices.size(); ++k) {
      const auto* alone = std::get_if<ast::NameRef>(&module_[index.indices[k]].node);
      const auto* packed = pack(index.indices[k]);
      if (!(alone && alone->name == name) && !(packed && packed->name == name)) continue;
      const auto begin = entry->cells->shape.begin() + static_cast<std::ptrdiff_t>((*axes)[k].first);
      std::vector<std::int64_t> range(begin, begin + static_cast<std::ptrdiff_t>((*axes)[k].count));
      if (found && *found != range) throw Fault("two ranges of " + name);
      found = range;
    }
  };
  for (ast::ExprId id : reads) reads_below(id, look);
  return found;
}

namespace {

Eval constantly(std::int64_t n) {
  return [v = integer(n)](Frame&) { return v; };
}

}  // namespace

std::vector<Variable> CellCompiler::bind(const std::vector<ast::RangeVar>& vars, const std::vector<ast::ExprId>& reads,
                                         Names& names) const {
  std::vector<Variable> result;
  for (const ast::RangeVar& v : vars) {
    if (v.lo) {
      Variable one{new_slot(), compile(*v.lo, names, ElementType::i64).eval,
                   compile(*v.hi, names, ElementType::i64).eval};
      names.own[v.name.text] = {.kind = Entry::variable, .slot = one.slot};
      result.push_back(std::move(one));
      continue;
    }
    auto found = extents(v.name.text, reads, names);
    if (!found) throw Fault("no range for " + v.name.text);
    Entry entry{.kind = v.pack ? Entry::variables : Entry::variable, .numbers = *found};
    for (std::int64_t extent : *found) {
      result.push_back({new_slot(), constantly(0), constantly(extent)});
      entry.slots.push_back(entry.slot = result.back().slot);
    }
    names.own[v.name.text] = std::move(entry);
  }
  return result;
}

}  // namespace tap::oracle
