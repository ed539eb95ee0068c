// Calls, iterates, and the statements of a body one after another.
#include <algorithm>
#include <cstring>

#include "tests/oracle/cells.h"
#include "tests/oracle/oracle.h"

namespace tap::oracle {

namespace {

std::shared_ptr<Cells> filled(ElementType type, Shape shape) {
  auto cells = std::make_shared<Cells>();
  cells->type = type, cells->shape = std::move(shape), cells->complete = true;
  cells->cells.resize(static_cast<std::size_t>(element_count(cells->shape)));
  return cells;
}

class Body {
 public:
  Body(const Library& library, Names& names) : library_(library), module_(library.module), names_(names) {}

  void run(const std::vector<ast::Statement>& statements) {
    for (const ast::Statement& s : statements) {
      if (auto* e = std::get_if<ast::Equation>(&s.node)) equation(*e);
      if (auto* b = std::get_if<ast::Binding>(&s.node)) binding(*b);
    }
  }
  Tensors whole(ast::ExprId id) const;

 private:
  void equation(const ast::Equation& equation);
  void binding(const ast::Binding& binding) {
    Tensors values = whole(binding.right);
    for (std::size_t k = 0; k < binding.left.size(); ++k) {
      Entry& entry = names_.own[binding.left[k].text];
      auto value = std::make_shared<Cells>(*values.at(k));
      if (entry.cells) {  // a result, as declared
        if (value->type != entry.cells->type || value->shape != entry.cells->shape)
          throw Fault("a result of another type");
        value->items = entry.cells->items, value->declared = true;
      }
      entry = {.kind = Entry::tensor, .cells = value};
    }
  }
  Tensors call(const ast::Call& call) const;
  Tensors iterate(const ast::Iterate& iterate) const;
  Tensors map(const ast::Call& call, const Tensors& arguments) const;

  const Library& library_;
  const ast::Module& module_;
  Names& names_;
};

Tensors Body::whole(ast::ExprId id) const {
  const auto& node = module_[id].node;
  if (auto* n = std::get_if<ast::NameRef>(&node)) {
    const Entry* entry = names_.find(n->name, Entry::tensor);
    if (!entry) throw Fault("no tensor " + n->name);
    complete(*entry->cells);
    return {entry->cells};
  }
  if (auto* c = std::get_if<ast::Call>(&node)) return call(*c);
  if (auto* i = std::get_if<ast::Iterate>(&node)) return iterate(*i);
  throw Fault("no whole tensor");
}

Tensors Body::map(const ast::Call& call, const Tensors& arguments) const {
  const FunctionInfo& info = *function_named(call.callee[0].text);
  const Cells& a = *arguments.at(0);
  const Cells& b = *arguments.back();
  if (a.shape != b.shape || a.type != b.type) throw Fault("a function of tensors of two shapes");
  auto result = filled(info.returns_bool ? ElementType::boolean : a.type, a.shape);
  for (std::size_t k = 0; k < result->cells.size(); ++k)
    result->cells[k] = rounded_at_cell(result->type, info.call(a.type, a.cells[k], b.cells[k]));
  return {result};
}

Tensors Body::call(const ast::Call& call) const {
  Tensors arguments;
  std::vector<Argument> types;
  for (const ast::Arg& a : call.args) {
    arguments.push_back(whole(a.value).at(0));
    types.push_back({arguments.back()->type, arguments.back()->shape});
  }
  if (call.callee.size() == 1 && function_named(call.callee[0].text)) return map(call, arguments);
  auto [op, at] = library_.find<ast::OpDecl>(call.callee.back().text);
  if (!op) throw Fault("no operator " + call.callee.back().text);
  Names inner = bound(*at, *op, call, types, library_, names_, std::nullopt);
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    auto cells = declared(*at, op->inputs[k], inner);
    cells->cells = arguments[k]->cells, cells->complete = true;
    inner.own[op->inputs[k].name.text] = {.kind = Entry::tensor, .cells = cells};
  }
  for (const ast::TensorParam& r : op->results)
    inner.own[r.name.text] = {.kind = Entry::tensor, .cells = declared(*at, r, inner)};
  Body body(*at, inner);
  body.run(op->body);
  Tensors results;
  for (const ast::TensorParam& r : op->results) {
    results.push_back(inner.own.at(r.name.text).cells);
    complete(*results.back());
    results.back() = std::make_shared<Cells>(*results.back());
    results.back()->items.clear();
  }
  return results;
}

Tensors Body::iterate(const ast::Iterate& iterate) const {
  std::size_t none = 0;
  CellCompiler compiler(library_, none);
  Tensors states;
  for (const ast::IterateState& s : iterate.states) states.push_back(whole(s.initial).at(0));
  const std::int64_t high = compiler.number(iterate.hi, names_);
  for (std::int64_t t = compiler.number(iterate.lo, names_); t < high; ++t) {
    Names inner{&names_};
    if (iterate.counter) inner.own[iterate.counter->text] = constant(t);
    for (std::size_t k = 0; k < states.size(); ++k)
      inner.own[iterate.states[k].name.text] = {.kind = Entry::tensor, .cells = states[k]};
    Body body(library_, inner);
    body.run(iterate.body);
    Tensors next;
    for (std::size_t k = 0; k < states.size(); ++k) {
      next.push_back(body.whole(iterate.results.at(k)).at(0));
      if (next[k]->type != states[k]->type || next[k]->shape != states[k]->shape)
        throw Fault("a state changes its type");
    }
    states = std::move(next);
  }
  return states;
}

void Body::equation(const ast::Equation& equation) { run_equation(library_, equation, names_); }

Tensor as_tensor(const Cells& cells) {
  Tensor result(cells.type, cells.shape);
  std::byte* at = result.mutable_data();
  for (const Value& v : cells.cells) store(at, cells.type, v), at += size_of(cells.type);
  return result;
}

}  // namespace

std::vector<Tensor> evaluate(const ast::Module& file, const ast::Module& standard, const std::vector<Tensor>& inputs,
                             const Request& request) {
  const Library library{standard}, own{file, &library};
  Names names;
  std::size_t none = 0;
  const ast::ProgramDecl* program = nullptr;
  for (const auto& [dim, size] : request.dims) names.own[dim] = constant(size);
  for (const ast::Declaration& d : file.declarations) {
    if (auto* dim = std::get_if<ast::DimDecl>(&d.node); dim && !request.dims.count(dim->name.text))
      names.own[dim->name.text] = constant(CellCompiler(own, none).number(dim->value, names));
    auto* found = std::get_if<ast::ProgramDecl>(&d.node);
    if (found && (request.program.empty() || found->name.text == request.program)) program = found;
  }
  if (!program || program->inputs.size() != inputs.size()) throw Fault("no program of these inputs");
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    auto cells = declared(own, program->inputs[k], names);
    if (cells->type != inputs[k].type() || cells->shape != inputs[k].shape()) throw Fault("an input of another type");
    for (std::int64_t c = 0; c < inputs[k].size(); ++c)
      cells->cells.push_back(load(inputs[k].data() + static_cast<std::size_t>(c) * size_of(cells->type), cells->type));
    cells->complete = true;
    names.own[program->inputs[k].name.text] = {.kind = Entry::tensor, .cells = cells};
  }
  for (const ast::TensorParam& r : program->results)
    names.own[r.name.text] = {.kind = Entry::tensor, .cells = declared(own, r, names)};
  Body body(own, names);
  body.run(program->body);
  std::vector<Tensor> outputs;
  for (const ast::TensorParam& r : program->results) {
    Cells& cells = *names.own.at(r.name.text).cells;
    complete(cells);
    outputs.push_back(as_tensor(cells));
  }
  return outputs;
}

}  // namespace tap::oracle
