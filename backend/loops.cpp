// The text of a kernel's loops, and its equality.
#include "backend/loops.h"

#include <fmt/format.h>

namespace tap::backend {

bool For::operator==(const For& o) const {
  return variable == o.variable && lower == o.lower && upper == o.upper && descending == o.descending &&
         body == o.body && kind == o.kind && step == o.step && count == o.count;
}
bool Guard::operator==(const Guard& o) const { return conditions == o.conditions && cell == o.cell && body == o.body; }
bool Section::operator==(const Section& o) const { return section == o.section && body == o.body; }
bool Statement::operator==(const Statement& o) const { return node == o.node; }
bool Kernel::operator==(const Kernel& o) const {
  return tensors == o.tensors && operands == o.operands && results == o.results && dims == o.dims && cut == o.cut &&
         grain == o.grain && worth == o.worth && variables == o.variables && accumulators == o.accumulators &&
         slots == o.slots && exprs == o.exprs && loads == o.loads && sections == o.sections && body == o.body;
}

std::int64_t tile_count(const Kernel& kernel, const ir::Box& box) {
  if (!kernel.cut) return 1;
  return (box.dims[*kernel.cut].size() + kernel.grain - 1) / kernel.grain;
}

namespace {
std::size_t bytes_of(const TensorArgument& tensor) {
  if (!tensor.local) return 0;
  constexpr std::size_t line = 64;
  std::size_t bytes = size_of(tensor.type.element);
  for (std::int64_t extent : tensor.local->extents) bytes *= static_cast<std::size_t>(extent);
  return (bytes + line - 1) / line * line;
}
}  // namespace

std::size_t scratch_offset(const Kernel& kernel, std::uint32_t tensor) {
  std::size_t offset = 0;
  for (std::uint32_t t = 0; t < tensor; ++t) offset += bytes_of(kernel.tensors[t]);
  return offset;
}
std::size_t scratch_bytes(const Kernel& kernel) {
  return scratch_offset(kernel, static_cast<std::uint32_t>(kernel.tensors.size()));
}

namespace {

using namespace ir;

class Printer {
 public:
  explicit Printer(const Kernel& kernel) : kernel_(kernel) {}
  std::string run();

 private:
  std::string cell(CellId id) const;
  std::string load(const Load& load) const;
  std::string bounds(const std::vector<Bound>& bounds, bool lower) const;
  std::string affine(const AffineExpr& e) const { return to_string(e, kernel_.variables); }
  void line(const std::string& text) { out_ += std::string(indent_, ' ') + text + '\n'; }
  void block(const std::vector<Statement>& body);
  void print(const For& loop);
  void print(const Guard& guard);
  void print(const Define& define) {
    line(fmt::format("let {} = {}", kernel_.variables[define.variable], bounds(define.bounds, define.greatest)));
  }
  void print(const FoldLanes& fold);
  void print(const Section& section);
  std::string slot(std::uint32_t number) const;
  void print(const Let& let) { line(fmt::format("let {} = {}", kernel_.variables[let.variable], cell(let.value))); }
  void print(const Assign& assign);
  void print(const Store& store);

  const Kernel& kernel_;
  std::string out_;
  std::size_t indent_ = 0;
};

std::string join(const std::vector<std::string>& parts) {
  std::string out;
  for (const auto& p : parts) out += (out.empty() ? "" : ", ") + p;
  return out;
}

std::string Printer::load(const Load& load) const {
  std::vector<std::string> at;
  for (const auto& c : load.at) at.push_back((c.data ? cell(*c.data) : affine(c.affine)) + (c.checked ? "?" : ""));
  std::string fill = load.fill ? " else " + cell(*load.fill) : "";
  return kernel_.tensors[load.tensor].name + "[" + join(at) + fill + "]";
}

std::string Printer::cell(CellId id) const {
  const CellNode& node = kernel_.exprs[id];
  if (node.op == CellOp::constant) return to_string(node.value);
  if (node.op == CellOp::index) return kernel_.variables[node.attribute];
  if (node.op == CellOp::argument) return slot(node.attribute);
  if (node.op == CellOp::read) return load(kernel_.loads[node.attribute]);
  std::vector<std::string> args;
  for (CellId arg : node.args) args.push_back(cell(arg));
  if (node.op == CellOp::cast) return fmt::format("{}({})", name_of(node.type), args[0]);
  if (node.op == CellOp::select) return fmt::format("(if {} then {} else {})", args[0], args[1], args[2]);
  std::string_view spelling = info(node.op).spelling;
  bool word = spelling[0] >= 'a' && spelling[0] <= 'z';
  bool infix = args.size() == 2 && (!word || info(node.op).kind == CellKind::lazy);
  if (infix) return fmt::format("({} {} {})", args[0], spelling, args[1]);
  return fmt::format("{}({})", spelling, join(args));
}

std::string Printer::bounds(const std::vector<Bound>& bounds, bool lower) const {
  std::vector<std::string> parts;
  for (const Bound& b : bounds)
    parts.push_back(b.divisor == 1 ? affine(b.expr)
                                   : fmt::format("{}(({}) / {})", lower ? "ceil" : "floor", affine(b.expr), b.divisor));
  return parts.size() == 1 ? parts[0] : fmt::format("{}({})", lower ? "max" : "min", join(parts));
}

std::string Printer::slot(std::uint32_t number) const {
  const Slot& slot = kernel_.slots[number];
  std::string at = kernel_.accumulators[slot.accumulator].count == 1 ? "" : "[" + affine(slot.at) + "]";
  return fmt::format("acc{}{}", slot.accumulator, at);
}

void Printer::print(const For& loop) {
  const std::string& variable = kernel_.variables[loop.variable];
  std::string from = bounds(loop.lower, true);
  switch (loop.kind) {
    case LoopKind::serial:
      line(fmt::format("for {} in {}..{}{}{}", variable, from, bounds(loop.upper, false),
                       loop.step == 1 ? "" : fmt::format(" step {}", loop.step), loop.descending ? " down" : ""));
      break;
    case LoopKind::unrolled: line(fmt::format("unroll {} in {} of {}", variable, from, loop.count)); break;
    case LoopKind::lanes:
      line(fmt::format("lanes {} in {}..{} of {}", variable, from, loop.upper.empty() ? "" : bounds(loop.upper, false),
                       loop.count));
      break;
  }
  block(loop.body);
}

void Printer::print(const FoldLanes& fold) {
  std::vector<std::string> to, from, a, b, values;
  for (std::size_t k = 0; k < fold.from.size(); ++k) {
    to.push_back(slot(fold.to[k]));
    from.push_back(slot(fold.from[k]));
    a.push_back(slot(fold.first[k]));
    b.push_back(slot(fold.second[k]));
    values.push_back(cell(fold.values[k]));
  }
  line(fmt::format("{} = fold {} by ({}, {}) = {}", join(to), join(from), join(a), join(b), join(values)));
}

void Printer::print(const Section& section) {
  line(fmt::format("section {}", section.section));
  block(section.body);
}

void Printer::print(const Guard& guard) {
  std::vector<std::string> parts;
  for (const Constraint& c : guard.conditions) parts.push_back(to_string(c, kernel_.variables));
  if (guard.cell) parts.push_back(cell(*guard.cell));
  line("if " + join(parts));
  block(guard.body);
}

void Printer::print(const Assign& assign) {
  std::vector<std::string> to, from;
  for (auto a : assign.slots)
    to.push_back(slot(a) + ": " + std::string(name_of(kernel_.accumulators[kernel_.slots[a].accumulator].type)));
  for (CellId v : assign.values) from.push_back(cell(v));
  line(join(to) + " = " + join(from));
}

void Printer::print(const Store& store) {
  std::vector<std::string> to, from;
  for (const auto& target : store.targets) {
    std::vector<std::string> at;
    for (const AffineExpr& e : target.at) at.push_back(affine(e));
    to.push_back(kernel_.tensors[target.tensor].name + "[" + join(at) + "]");
    from.push_back(cell(target.value));
  }
  line(join(to) + " = " + join(from));
}

void Printer::block(const std::vector<Statement>& body) {
  indent_ += 2;
  for (const Statement& s : body) std::visit([&](const auto& node) { print(node); }, s.node);
  indent_ -= 2;
}

std::string Printer::run() {
  std::vector<std::string> operands, results;
  for (std::size_t t = 0; t < kernel_.operands + kernel_.results; ++t)
    (t < kernel_.operands ? operands : results)
        .push_back(kernel_.tensors[t].name + ": " + to_string(kernel_.tensors[t].type));
  line(fmt::format("kernel ({}) -> ({})", join(operands), join(results)));
  indent_ += 2;
  for (std::size_t t = kernel_.operands + kernel_.results; t < kernel_.tensors.size(); ++t) {
    const TensorArgument& tensor = kernel_.tensors[t];
    std::vector<std::string> axes;
    for (std::size_t axis = 0; axis < tensor.local->extents.size(); ++axis)
      axes.push_back(fmt::format("{} of {}", affine(tensor.local->origin[axis]), tensor.local->extents[axis]));
    line(fmt::format("local {}: {} at [{}]", tensor.name, to_string(tensor.type), join(axes)));
  }
  if (kernel_.cut) line(fmt::format("cut {} by {}", kernel_.variables[kernel_.at(*kernel_.cut)], kernel_.grain));
  indent_ -= 2;
  block(kernel_.body);
  return out_;
}

}  // namespace

std::string print(const Kernel& kernel) { return Printer(kernel).run(); }

}  // namespace tap::backend
