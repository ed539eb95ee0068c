// The text of a kernel's loops, and its equality.
#include "backend/loops.h"

#include <fmt/format.h>

namespace tap::backend {

bool For::operator==(const For& o) const {
  return variable == o.variable && lower == o.lower && upper == o.upper && descending == o.descending && body == o.body;
}
bool Guard::operator==(const Guard& o) const { return conditions == o.conditions && cell == o.cell && body == o.body; }
bool Statement::operator==(const Statement& o) const { return node == o.node; }
bool Kernel::operator==(const Kernel& o) const {
  return tensors == o.tensors && operands == o.operands && dims == o.dims && variables == o.variables &&
         accumulators == o.accumulators && exprs == o.exprs && loads == o.loads && body == o.body;
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
  if (node.op == CellOp::argument) return fmt::format("acc{}", node.attribute);
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

void Printer::print(const For& loop) {
  line(fmt::format("for {} in {}..{}{}", kernel_.variables[loop.variable], bounds(loop.lower, true),
                   bounds(loop.upper, false), loop.descending ? " down" : ""));
  block(loop.body);
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
  for (auto a : assign.accumulators) to.push_back(fmt::format("acc{}: {}", a, name_of(kernel_.accumulators[a])));
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
  for (std::size_t t = 0; t < kernel_.tensors.size(); ++t)
    (t < kernel_.operands ? operands : results)
        .push_back(kernel_.tensors[t].name + ": " + to_string(kernel_.tensors[t].type));
  line(fmt::format("kernel ({}) -> ({})", join(operands), join(results)));
  block(kernel_.body);
  return out_;
}

}  // namespace

std::string print(const Kernel& kernel) { return Printer(kernel).run(); }

}  // namespace tap::backend
