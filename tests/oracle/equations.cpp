// Equations over cells: their variables, and every cell that they write.
#include <algorithm>

#include "tests/oracle/cells.h"

namespace tap::oracle {

Value rounded_at_cell(ElementType type, Value v) {
  return type == ElementType::f16 || type == ElementType::bf16 ? floating(nearest(v.f, type)) : v;
}

void complete(Cells& cells) {
  if (cells.complete) return;
  cells.complete = true;
  cells.cells.resize(static_cast<std::size_t>(element_count(cells.shape)));
  std::vector<bool> there(cells.cells.size());
  auto at = cells.coordinates.begin();
  for (const Value& value : cells.written) {
    std::int64_t offset = 0;
    for (std::int64_t extent : cells.shape) {
      if (*at < 0 || *at >= extent) throw Fault("a cell outside of its tensor is written");
      offset = offset * extent + *at++;
    }
    const auto k = static_cast<std::size_t>(offset);
    if (there[k]) throw Fault("a cell is written twice");
    there[k] = true;
    cells.cells[k] = value;
  }
  if (std::find(there.begin(), there.end(), false) != there.end()) throw Fault("a cell is never written");
  cells.coordinates.clear(), cells.written.clear();
}

namespace {

// One equation: its variables, in an order in which bounds are known, and what is evaluated for each point.
class EquationRun {
 public:
  EquationRun(const Library& library, const ast::Equation& equation, Names& outer)
      : compiler_(library, slots_), module_(library.module), equation_(equation), outer_(outer), inner_{&outer} {}

  void run() {
    bind_variables();
    const auto* reduce = std::get_if<ast::Reduce>(&module_[equation_.right].node);
    if (equation_.left.size() > 1 || (reduce && equation_.tuple)) return components(*reduce);
    std::shared_ptr<Cells> cells = target(0, std::nullopt);
    Typed right = compiler_.compile(equation_.right, inner_, cells->type);
    if (right.type != cells->type) throw Fault("a cell of another type than its tensor");
    write(0, *cells, right.eval);
  }

 private:
  void components(const ast::Reduce& reduce) {
    std::vector<ElementType> types;
    for (const ast::LeftSide& left : equation_.left)
      if (const Entry* known = outer_.find(left.base.text, Entry::tensor)) types.push_back(known->cells->type);
    if (types.size() != equation_.left.size()) types.clear();
    types = compiler_.state_types(reduce, inner_, types);
    auto state = compiler_.compile_reduction(reduce, inner_, types);
    for (std::size_t c = 0; c < equation_.left.size(); ++c)
      write(c, *target(c, types[c]), [state, c](Frame& f) {
        std::vector<Value> values;
        state(f, values);
        return values[c];
      });
  }

  std::shared_ptr<Cells> target(std::size_t k, std::optional<ElementType> type) {
    const std::string& name = equation_.left[k].base.text;
    Entry& entry = outer_.own[name];
    if (!entry.cells) {
      entry = {.kind = Entry::tensor, .cells = std::make_shared<Cells>()};
      if (!type) type = compiler_.natural(equation_.right, inner_);
      if (!type) throw Fault("a local without a type");
      entry.cells->type = *type;
    }
    if (entry.cells->complete) throw Fault(name + " is written after it is read");
    return entry.cells;
  }

  struct Bound {
    std::string name;
    std::vector<Variable> variables;
    std::set<std::string> depends;
  };

  // Names and packs below an expression that are no constants.
  void variables_below(ast::ExprId id, std::set<std::string>& found) const {
    const auto& node = module_[id].node;
    if (auto* n = std::get_if<ast::NameRef>(&node)) {
      if (!outer_.find(n->name, Entry::constant)) found.insert(n->name);
    } else if (auto* p = std::get_if<ast::PackRef>(&node)) {
      found.insert(p->name);
    } else if (auto* l = std::get_if<ast::LinearIndex>(&node)) {
      found.insert(l->pack);
    } else if (auto* u = std::get_if<ast::Unary>(&node)) {
      variables_below(u->operand, found);
    } else if (auto* b = std::get_if<ast::Binary>(&node)) {
      variables_below(b->left, found);
      variables_below(b->right, found);
    }
  }

  void bind_variables() {
    std::set<std::string> open;
    for (const ast::LeftSide& left : equation_.left)
      for (ast::ExprId id : left.indices) variables_below(id, open);
    for (const ast::RangeVar& v : equation_.ranges) open.insert(v.name.text);
    while (!open.empty()) {
      const std::size_t before = open.size();
      for (const std::string& name : std::set<std::string>(open))
        if (try_bind(name, open)) open.erase(name);
      if (open.size() == before) throw Fault("ranges that depend on each other");
    }
  }

  bool try_bind(const std::string& name, const std::set<std::string>& open) {
    Bound bound{name, {}, {}};
    bool written = false;
    for (const ast::RangeVar& v : equation_.ranges) {
      if (v.name.text != name || !v.lo) continue;
      variables_below(*v.lo, bound.depends);
      variables_below(*v.hi, bound.depends);
      for (const std::string& d : bound.depends)
        if (open.count(d)) return false;
      bound.variables = compiler_.bind({v}, {}, inner_);
      written = true;
    }
    if (!written) {
      if (!from_left(name)) from_reads(name);
      bound.variables = std::move(made_);
    }
    bound_.push_back(std::move(bound));
    return true;
  }

  bool from_left(const std::string& name) {
    for (const ast::LeftSide& left : equation_.left) {
      const Entry* known = outer_.find(left.base.text, Entry::tensor);
      if (!known || !known->cells->declared) continue;
      auto axes = compiler_.aligned(left.indices, *known->cells, inner_);
      for (std::size_t k = 0; axes && k < left.indices.size(); ++k) {
        const auto* alone = std::get_if<ast::NameRef>(&module_[left.indices[k]].node);
        const auto* pack = compiler_.pack(left.indices[k]);
        if (!(alone && alone->name == name) && !(pack && pack->name == name)) continue;
        const auto begin = known->cells->shape.begin() + static_cast<std::ptrdiff_t>((*axes)[k].first);
        make(name, {begin, begin + static_cast<std::ptrdiff_t>((*axes)[k].count)}, pack);
        return true;
      }
    }
    return false;
  }

  void from_reads(const std::string& name) {
    auto extents = compiler_.extents(name, {equation_.right}, inner_);
    if (!extents) throw Fault("no range for " + name);
    bool pack = false;
    for (const ast::LeftSide& left : equation_.left)
      for (ast::ExprId id : left.indices) {
        const auto* linear = std::get_if<ast::LinearIndex>(&module_[id].node);
        pack |= (compiler_.pack(id) && compiler_.pack(id)->name == name) || (linear && linear->pack == name);
      }
    make(name, *extents, pack);
  }

  void make(const std::string& name, const std::vector<std::int64_t>& extents, bool pack) {
    auto constantly = [](std::int64_t n) { return [v = integer(n)](Frame&) { return v; }; };
    Entry entry{.kind = pack ? Entry::variables : Entry::variable, .numbers = extents};
    made_.clear();
    for (std::int64_t extent : extents) {
      made_.push_back({compiler_.new_slot(), constantly(0), constantly(extent)});
      entry.slots.push_back(entry.slot = made_.back().slot);
    }
    inner_.own[name] = std::move(entry);
  }

  // Those that these depend on, too.
  std::vector<Variable> with_all(std::set<std::string> names) const {
    std::vector<Variable> result;
    for (std::size_t k = bound_.size(); k-- > 0;)
      if (names.count(bound_[k].name)) names.insert(bound_[k].depends.begin(), bound_[k].depends.end());
    for (const Bound& b : bound_)
      if (names.count(b.name)) result.insert(result.end(), b.variables.begin(), b.variables.end());
    return result;
  }

  // One coordinate for each axis, and the variables in it.
  struct Coordinate {
    Eval at;
    std::vector<Variable> variables;
  };
  std::vector<Coordinate> coordinates(const ast::LeftSide& left) const {
    std::vector<Coordinate> result;
    for (ast::ExprId id : left.indices) {
      std::set<std::string> names;
      variables_below(id, names);
      if (auto* pack = compiler_.pack(id)) {
        const Entry& entry = inner_.own.at(pack->name);
        const std::vector<Variable> all = with_all(names);
        for (std::size_t a = 0; a < entry.slots.size(); ++a)
          result.push_back({[slot = entry.slots[a]](Frame& f) { return f.slots[slot]; }, {all[a]}});
      } else if (auto* linear = std::get_if<ast::LinearIndex>(&module_[id].node)) {
        const Entry& entry = inner_.own.at(linear->pack);
        result.push_back({[slots = entry.slots, extents = entry.numbers](Frame& f) {
                            std::int64_t offset = 0;
                            for (std::size_t a = 0; a < slots.size(); ++a)
                              offset = offset * extents[a] + f.slots[slots[a]].i;
                            return integer(offset);
                          },
                          with_all(names)});
      } else {
        result.push_back({compiler_.compile(id, inner_, ElementType::i64).eval, with_all(names)});
      }
    }
    return result;
  }

  void write(std::size_t k, Cells& cells, const Eval& value) {
    const ast::LeftSide& left = equation_.left[k];
    const auto at = coordinates(left);
    std::set<std::string> own;
    for (ast::ExprId id : left.indices) variables_below(id, own);
    for (const ast::RangeVar& v : equation_.ranges)
      if (equation_.left.size() == 1) own.insert(v.name.text);
    const std::vector<Variable> variables = with_all(own);
    Frame frame{std::vector<Value>(slots_)};
    if (!cells.declared) enlarge(cells, at, frame);
    if (at.size() != cells.rank()) throw Fault("a tensor of another rank");
    std::size_t all = 0;
    for (const Bound& b : bound_) all += b.variables.size();
    frame.out_of_range = variables.size() != all;
    for (const Bound& b : bound_)  // a component with fewer indices does not depend on the others
      for (const Variable& v : b.variables)
        if (frame.out_of_range) frame.slots[v.slot] = v.low(frame);
    for_each_point(variables, frame, [&] {
      for (const Coordinate& c : at) cells.coordinates.push_back(c.at(frame).i);
      cells.written.push_back(rounded_at_cell(cells.type, value(frame)));
    });
  }

  // A local has one more than the largest index written.
  static void enlarge(Cells& cells, const std::vector<Coordinate>& at, Frame& frame) {
    if (cells.shape.empty()) cells.shape.resize(at.size());
    if (cells.shape.size() != at.size()) throw Fault("a tensor of two ranks");
    for (std::size_t a = 0; a < at.size(); ++a)
      for_each_point(at[a].variables, frame, [&] { cells.shape[a] = std::max(cells.shape[a], at[a].at(frame).i + 1); });
  }

  std::size_t slots_ = 0;
  CellCompiler compiler_;
  const ast::Module& module_;
  const ast::Equation& equation_;
  Names& outer_;
  Names inner_;
  std::vector<Bound> bound_;
  std::vector<Variable> made_;
};

}  // namespace

void run_equation(const Library& library, const ast::Equation& equation, Names& names) {
  EquationRun(library, equation, names).run();
}

}  // namespace tap::oracle
