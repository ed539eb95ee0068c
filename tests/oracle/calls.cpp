// One application of an operator: which sizes, packs, types and parameters its names stand for. All ways to share the axes of
// the arguments among the packs are tried; the one that every condition allows is taken.
#include "tests/oracle/cells.h"

namespace tap::oracle {
namespace {

class Matcher {
 public:
  Matcher(const Library& at, const ast::OpDecl& op, const std::vector<Argument>& arguments, Names& names)
      : compiler_(at, slots_), op_(op), arguments_(arguments), names_(names) {}

  bool run(std::size_t argument = 0) {
    if (argument == arguments_.size()) return conditions_hold();
    return items(argument, 0, 0);
  }

 private:
  bool items(std::size_t argument, std::size_t item, std::size_t axis) {
    const Shape& shape = arguments_[argument].shape;
    const auto& dims = op_.inputs[argument].type.dims;
    if (item == dims.size()) return axis == shape.size() && run(argument + 1);
    if (!dims[item].pack) {
      if (axis == shape.size()) return false;
      return size(dims[item].size, shape[axis], [&] { return items(argument, item + 1, axis + 1); });
    }
    const auto* pack = compiler_.pack(dims[item].size);
    if (!pack) throw Fault("a computed pack in an input");
    if (const Entry* known = names_.find(pack->name, Entry::sizes)) {
      if (axis + known->numbers.size() > shape.size()) return false;
      if (!std::equal(known->numbers.begin(), known->numbers.end(), shape.begin() + static_cast<std::ptrdiff_t>(axis)))
        return false;
      return items(argument, item + 1, axis + known->numbers.size());
    }
    for (std::size_t count = 0; axis + count <= shape.size(); ++count) {
      auto begin = shape.begin() + static_cast<std::ptrdiff_t>(axis);
      names_.own[pack->name] = {.kind = Entry::sizes, .numbers = {begin, begin + static_cast<std::ptrdiff_t>(count)}};
      if (items(argument, item + 1, axis + count)) return true;
    }
    names_.own.erase(pack->name);
    return false;
  }

  // Binds the one name in it that has no number yet.
  template <class Then>
  bool size(ast::ExprId id, std::int64_t extent, Then then) {
    std::vector<std::string> unknown;
    names_below(id, unknown);
    if (unknown.empty()) return compiler_.number(id, names_) == extent && then();
    if (unknown.size() > 1) throw Fault("a size with two unknown dims");
    for (std::int64_t n = extent; n >= 0; --n) {
      names_.own[unknown[0]] = constant(n);
      if (compiler_.number(id, names_) == extent && then()) return true;
    }
    names_.own.erase(unknown[0]);
    return false;
  }

  void names_below(ast::ExprId id, std::vector<std::string>& unknown) {
    const auto& node = compiler_.module()[id].node;
    if (auto* n = std::get_if<ast::NameRef>(&node)) {
      if (!names_.find(n->name)) unknown.push_back(n->name);
    } else if (auto* b = std::get_if<ast::Binary>(&node)) {
      names_below(b->left, unknown);
      names_below(b->right, unknown);
    }
  }

  bool conditions_hold() {
    Frame none;
    for (const ast::WhereClause& w : op_.where)
      if (w.condition && !compiler_.compile(*w.condition, names_, ElementType::boolean).eval(none).i) return false;
    return true;
  }

  std::size_t slots_ = 0;
  CellCompiler compiler_;
  const ast::OpDecl& op_;
  const std::vector<Argument>& arguments_;
  Names& names_;
};

Entry parameter(const ast::Param& p, ast::ExprId value, const Library& at, const Names& names) {
  std::size_t none = 0;
  CellCompiler compiler(at, none);
  if (p.kind.text == "type") {
    const auto& type = std::get<ast::NameRef>(at.module[value].node);
    return {.kind = Entry::type, .element = *type_named(type.name, names)};
  }
  const ElementType type = p.kind.text == "int"    ? ElementType::i64
                           : p.kind.text == "bool" ? ElementType::boolean
                                                   : ElementType::f64;
  Frame frame;
  Typed number = compiler.compile(value, names, type);
  return {.kind = Entry::constant, .element = type, .number = converted(number.eval(frame), number.type, type)};
}

void bind_parameters(const Library& at, const ast::OpDecl& op, const ast::Call& call, const Library& caller,
                     const Names& outer, Names& names) {
  std::size_t position = 0;
  for (const ast::Param& p : op.params) {
    if (p.pack) {
      Entry pack{.kind = Entry::sizes};
      for (; position < call.params.size(); ++position)
        pack.numbers.push_back(parameter(p, call.params[position].value, caller, outer).number.i);
      names.own[p.name.text] = pack;
      continue;
    }
    const ast::ParamArg* given = nullptr;
    for (const ast::ParamArg& a : call.params)
      if (a.name && a.name->text == p.name.text) given = &a;
    if (!given && position < call.params.size() && !call.params[position].name) given = &call.params[position++];
    if (given) names.own[p.name.text] = parameter(p, given->value, caller, outer);
    else if (p.default_value) names.own[p.name.text] = parameter(p, *p.default_value, at, names);
    else throw Fault("no value for parameter " + p.name.text);
  }
}

std::vector<std::int64_t> broadcast(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  std::vector<std::int64_t> result(std::max(a.size(), b.size()), 1);
  for (const auto* one : {&a, &b})
    for (std::size_t k = 1; k <= one->size(); ++k) {
      std::int64_t& common = result[result.size() - k];
      const std::int64_t other = (*one)[one->size() - k];
      if (common != other && common != 1 && other != 1) throw Fault("shapes that do not broadcast");
      if (other != 1) common = other;
    }
  return result;
}

}  // namespace

Names bound(const Library& at, const ast::OpDecl& op, const ast::Call& call, const std::vector<Argument>& arguments,
            const Library& caller, const Names& outer, std::optional<ElementType> expected) {
  if (arguments.size() != op.inputs.size()) throw Fault("another number of arguments");
  Names names;
  bind_parameters(at, op, call, caller, outer, names);
  auto generic = [&](const std::string& name, ElementType type) {
    if (!element_type_named(name)) names.own.emplace(name, Entry{.kind = Entry::type, .element = type});
  };
  for (std::size_t k = 0; k < arguments.size(); ++k)
    if (arguments[k].known_type) generic(op.inputs[k].type.element.text, arguments[k].type);
  if (expected) generic(op.results.at(0).type.element.text, *expected);
  if (!Matcher(at, op, arguments, names).run()) throw Fault("arguments do not fit " + op.name.text);
  return names;
}

std::shared_ptr<Cells> declared(const Library& at, const ast::TensorParam& tensor, const Names& names) {
  std::size_t none = 0;
  CellCompiler compiler(at, none);
  auto cells = std::make_shared<Cells>();
  cells->type = *type_named(tensor.type.element.text, names);
  cells->declared = true;
  for (const ast::DimItem& item : tensor.type.dims) {
    std::vector<std::int64_t> sizes;
    if (!item.pack) {
      sizes.push_back(compiler.number(item.size, names));
    } else if (auto* pack = compiler.pack(item.size)) {
      sizes = names.find(pack->name, Entry::sizes)->numbers;
    } else {
      const auto& call = std::get<ast::Call>(at.module[item.size].node);
      std::vector<std::vector<std::int64_t>> packs;
      for (const ast::Arg& a : call.args) {
        const auto* packed = compiler.pack(a.value);
        const std::string& name = packed ? packed->name : std::get<ast::NameRef>(at.module[a.value].node).name;
        packs.push_back(names.find(name, Entry::sizes)->numbers);
      }
      sizes = broadcast(packs.at(0), packs.at(1));
    }
    cells->items.push_back({sizes.size(), item.pack});
    cells->shape.insert(cells->shape.end(), sizes.begin(), sizes.end());
  }
  return cells;
}

}  // namespace tap::oracle
