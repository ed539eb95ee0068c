// The text of a kernel (loops_text.h).
#include <fmt/format.h>

#include <unordered_map>

#include "backend/loops/loops_text.h"
#include "backend/loops/loops_words.h"
#include "ir/text/print_cell.h"
#include "ir/text_names.h"

namespace tap::backend {

using namespace ir;

namespace {

// Pre: the kernel is in normal form.
class Printer {
 public:
  explicit Printer(const Kernel& kernel) : kernel_(kernel) {
    words_.leaf = [this](const CellNode& node, const Show& show) { return leaf(node, show); };
    words_.constant = [](const Scalar& value) { return constant(value); };
  }
  KernelText run();

 private:
  using Show = std::function<std::string(CellId)>;
  using Texts = std::vector<std::string>;

  void header();
  void local(const TensorArgument& tensor);
  void section(std::size_t number);
  std::string tensors(std::size_t first, std::size_t end) const;
  std::string variables(const std::vector<std::uint32_t>& numbers) const;
  std::string affine(const AffineExpr& e) const { return to_string(e, kernel_.variables); }
  std::string bounds(const std::vector<Bound>& bounds, bool lower) const;
  std::string slot(std::uint32_t number) const;
  std::string slots(const std::vector<std::uint32_t>& numbers) const;

  static std::string constant(const Scalar& value);
  std::string leaf(const CellNode& node, const Show& show) const;
  std::string load(const Load& load, const Show& show) const;
  std::string cell(CellId id) const {
    auto name = names_.find(id);
    return name == names_.end() ? definition(id) : name->second;
  }
  std::string cells(const std::vector<CellId>& ids) const;
  std::string definition(CellId id) const { return print_cell_out(kernel_.exprs, id, words_, names_); }
  void sort(CellId id, std::vector<CellId>& arguments_first, std::unordered_map<CellId, int>& uses) const;
  bool is_short(CellId id) const;
  void name_shared(const std::vector<CellId>& roots);

  std::string tensor_access(std::uint32_t tensor, const std::vector<AffineExpr>& at) const;

  void line(const std::string& text) {
    out_ += std::string(indent_, ' ') + text + '\n';
    statements_.push_back(statement_);
  }
  void block(const std::vector<Statement>& body);
  void print(const For& loop);
  void print(const Guard& guard);
  void print(const Define& define) {
    line(fmt::format("let {} = {}", kernel_.variables[define.variable], bounds(define.bounds, define.greatest)));
  }
  void print(const Let& let) {
    name_shared({let.value});
    line(fmt::format("let {} = ({})", kernel_.variables[let.variable], cell(let.value)));
  }
  void print(const Assign& assign) {
    name_shared(assign.values);
    line(fmt::format("{} = {}", slots(assign.slots), cells(assign.values)));
  }
  void print(const Store& store);
  void print(const Prefetch& prefetch) {
    line((prefetch.near ? "fetch near " : "fetch ") + tensor_access(prefetch.tensor, prefetch.at));
  }
  void print(const FoldLanes& fold) {
    name_shared(fold.values);
    line(fmt::format("{} = fold {} by ({}; {}) -> {}", slots(fold.to), slots(fold.from), slots(fold.first),
                     slots(fold.second), cells(fold.values)));
  }
  void print(const Section& section) {
    line(fmt::format("section {}", section.section));
    block(section.body);
  }

  const Kernel& kernel_;
  CellWords words_;
  CellNames names_;  // of cells named before this statement
  std::size_t named_ = 0;
  std::string out_;
  std::vector<std::uint32_t> statements_;  // by line
  std::uint32_t statement_ = 0;
  std::size_t indent_ = 0;
};

// For i64 and f32 the number itself shows the type: 2 and 2.0.
std::string Printer::constant(const Scalar& value) {
  std::string text = to_string(value);
  if (is_float(value.type) && text.find_first_of(".einf") == std::string::npos) text += ".0";
  bool plain = is_bool(value.type) || value.type == ElementType::i64 || value.type == ElementType::f32;
  return plain ? text : fmt::format("{}_{}", text, name_of(value.type));
}

std::string Printer::leaf(const CellNode& node, const Show& show) const {
  if (node.op == CellOp::index) return kernel_.variables[node.attribute];
  if (node.op == CellOp::argument) return slot(node.attribute);
  return load(kernel_.loads[node.attribute], show);
}

std::string Printer::load(const Load& load, const Show& show) const {
  Texts at;
  for (const Coordinate& c : load.at)
    at.push_back((c.data ? "(" + show(*c.data) + ")" : affine(c.affine)) + (c.checked ? "?" : ""));
  std::string inside = joined(at);
  if (load.fill) inside += (at.empty() ? "else " : " else ") + show(*load.fill);
  return fmt::format("{}[{}]{}", kernel_.tensors[load.tensor].name, inside, load.anywhere ? "" : "!");
}

std::string Printer::cells(const std::vector<CellId>& ids) const {
  Texts texts;
  for (CellId id : ids) texts.push_back(cell(id));
  return joined(texts);
}

void Printer::sort(CellId id, std::vector<CellId>& arguments_first, std::unordered_map<CellId, int>& uses) const {
  if (uses[id]++ > 0) return;
  for (CellId other : needs(kernel_, id)) sort(other, arguments_first, uses);
  arguments_first.push_back(id);
}

// Numbers, variables, accumulators and plain reads: as short as a name.
bool Printer::is_short(CellId id) const { return needs(kernel_, id).empty(); }

// Names cells that are used twice or nested too deeply, so that neither text nor recursion grows beyond the number of
// cells.
void Printer::name_shared(const std::vector<CellId>& roots) {
  constexpr int deep = 50;
  std::vector<CellId> order;
  std::unordered_map<CellId, int> uses, depth;
  for (CellId root : roots) sort(root, order, uses);
  names_.clear();
  for (CellId id : order) {
    int& its = depth[id];
    for (CellId other : needs(kernel_, id)) its = std::max(its, names_.count(other) ? 1 : depth[other] + 1);
    if (is_short(id) || (uses[id] < 2 && its < deep)) continue;
    std::string name = fmt::format("%{}", named_++);
    line(fmt::format("let {} = {}", name, definition(id)));
    names_[id] = std::move(name);
  }
}

std::string Printer::bounds(const std::vector<Bound>& bounds, bool lower) const {
  Texts parts;
  for (const Bound& b : bounds)
    parts.push_back(b.divisor == 1 ? affine(b.expr)
                                   : fmt::format("{}(({}) / {})", lower ? "ceil" : "floor", affine(b.expr), b.divisor));
  return parts.size() == 1 ? parts[0] : fmt::format("{}({})", lower ? "max" : "min", joined(parts));
}

std::string Printer::slot(std::uint32_t number) const {
  const Slot& slot = kernel_.slots[number];
  bool only = kernel_.accumulators[slot.accumulator].count == 1 && slot.at.is_constant() && slot.at.offset == 0;
  return fmt::format("acc{}{}", slot.accumulator, only ? "" : "[" + affine(slot.at) + "]");
}

std::string Printer::slots(const std::vector<std::uint32_t>& numbers) const {
  Texts texts;
  for (std::uint32_t n : numbers) texts.push_back(slot(n));
  return joined(texts);
}

void Printer::print(const For& loop) {
  const std::string& variable = kernel_.variables[loop.variable];
  std::string range = bounds(loop.lower, true);
  if (!loop.upper.empty()) range += ".." + bounds(loop.upper, false);
  switch (loop.kind) {
    case LoopKind::serial:
      line(fmt::format("for {} in {}{}{}", variable, range, loop.step == 1 ? "" : fmt::format(" step {}", loop.step),
                       loop.descending ? " down" : ""));
      break;
    case LoopKind::unrolled: line(fmt::format("unroll {} in {} of {}", variable, range, loop.count)); break;
    case LoopKind::lanes: line(fmt::format("lanes {} in {} of {}", variable, range, loop.count)); break;
  }
  block(loop.body);
}

void Printer::print(const Guard& guard) {
  Texts parts;
  for (const Constraint& c : guard.conditions) parts.push_back(to_string(c, kernel_.variables));
  if (guard.cell) name_shared({*guard.cell});
  if (guard.cell) parts.push_back("(" + cell(*guard.cell) + ")");
  line("if " + joined(parts));
  block(guard.body);
}

std::string Printer::tensor_access(std::uint32_t tensor, const std::vector<AffineExpr>& at) const {
  Texts texts;
  for (const AffineExpr& e : at) texts.push_back(affine(e));
  return fmt::format("{}[{}]", kernel_.tensors[tensor].name, joined(texts));
}

void Printer::print(const Store& store) {
  Texts to;
  std::vector<CellId> values;
  for (const Store::Target& target : store.targets) {
    to.push_back(tensor_access(target.tensor, target.at));
    values.push_back(target.value);
  }
  name_shared(values);
  line(fmt::format("{} = {}", joined(to), cells(values)));
}

void Printer::block(const std::vector<Statement>& body) {
  indent_ += 2;
  for (const Statement& s : body) {
    ++statement_;
    std::visit([&](const auto& node) { print(node); }, s.node);
  }
  indent_ -= 2;
}

std::string Printer::tensors(std::size_t first, std::size_t end) const {
  Texts texts;
  for (std::size_t t = first; t < end; ++t)
    texts.push_back(kernel_.tensors[t].name + ": " + to_string(kernel_.tensors[t].type));
  return joined(texts);
}

std::string Printer::variables(const std::vector<std::uint32_t>& numbers) const {
  Texts texts;
  for (std::uint32_t v : numbers) texts.push_back(kernel_.variables[v]);
  return joined(texts);
}

void Printer::local(const TensorArgument& tensor) {
  Texts origin;
  for (const AffineExpr& e : tensor.local->origin) origin.push_back(affine(e));
  const auto& reuses = tensor.local->reuses;
  line(fmt::format("local {}: {} holds {} at ({}){}", tensor.name, to_string(tensor.type),
                   to_string(tensor.local->extents), joined(origin),
                   reuses ? " reuses " + kernel_.tensors[*reuses].name : ""));
}

void Printer::section(std::size_t number) {
  const SectionDims& its = kernel_.sections[number];
  Texts operands;
  for (std::uint32_t t : its.operands) operands.push_back(kernel_.tensors[t].name);
  line(fmt::format("section {} at ({}) from ({}) of ({})", number, variables(its.at), variables(its.lo),
                   joined(operands)));
}

void Printer::header() {
  std::size_t arguments = kernel_.operands + kernel_.results;
  line(fmt::format("kernel ({}) -> ({}) over ({})", tensors(0, kernel_.operands), tensors(kernel_.operands, arguments),
                   variables(box_dims(kernel_).at)));
  indent_ += 2;
  if (kernel_.tile_dim)
    line(fmt::format("cut {} by {} worth {}", kernel_.variables[kernel_.at(*kernel_.tile_dim)], kernel_.grain,
                     kernel_.worth));
  if (kernel_.exact_arithmetic) line("exact arithmetic");
  for (const TensorArgument& tensor : kernel_.tensors)
    if (tensor.non_temporal) line("nontemporal " + tensor.name);
  for (const TensorArgument& tensor : kernel_.tensors)
    if (tensor.whole > 0) line(fmt::format("whole {} {}", tensor.name, tensor.whole));
  std::vector<std::uint32_t> defined = variables_defined(kernel_), unused;
  for (std::uint32_t v = static_cast<std::uint32_t>(3 * kernel_.dims); v < kernel_.variables.size(); ++v)
    if (std::find(defined.begin(), defined.end(), v) == defined.end()) unused.push_back(v);
  if (!unused.empty()) line("unused " + variables(unused));
  for (std::size_t t = arguments; t < kernel_.tensors.size(); ++t) local(kernel_.tensors[t]);
  for (std::size_t s = 0; s < kernel_.sections.size(); ++s)
    if (s > 0 || kernel_.sections[s] != box_dims(kernel_)) section(s);
  for (std::size_t a = 0; a < kernel_.accumulators.size(); ++a) {
    const auto& [type, count, lanes] = kernel_.accumulators[a];
    line(fmt::format("acc{}: {}{}{}", a, name_of(type), lanes == 1 ? "" : fmt::format("x{}", lanes),
                     count == 1 ? "" : fmt::format("[{}]", count)));
  }
  indent_ -= 2;
}

KernelText Printer::run() {
  header();
  block(kernel_.body);
  return {std::move(out_), std::move(statements_)};
}

}  // namespace

KernelText print_with_statements(const Kernel& kernel) {
  Kernel in_order = normal(kernel);
  return Printer(in_order).run();
}

std::string print(const Kernel& kernel) { return print_with_statements(kernel).text; }

std::string print(const std::vector<Kernel>& kernels) {
  std::string text;
  for (const Kernel& kernel : kernels) text += (text.empty() ? "" : "\n") + print(kernel);
  return text;
}

}  // namespace tap::backend
