// Operators that no program of the file calls are tested at small sizes, so that `tapc check` also finds their
// errors. An error at one choice of sizes, types and parameters may not occur at another: it is reported if no choice
// is legal, or if it does not depend on the choice, as for an undefined name.
#include <algorithm>
#include <utility>

#include "compiler/frontend/elaborate/body.h"
#include "compiler/frontend/elaborate/monoids.h"
#include "compiler/frontend/elaborate/program.h"
#include "compiler/frontend/elaborate/signature.h"
#include "compiler/frontend/elaborate/sizes.h"
#include "support/checked.h"

namespace tap {
namespace {

// Whether another choice of sizes, types or parameters might not have this error.
bool depends_on_choice(Code code) {
  switch (code) {
    case Code::condition_not_met:
    case Code::shape_mismatch:
    case Code::rank_mismatch:
    case Code::bad_parameter:
    case Code::bad_size:
    case Code::pack_ambiguous:
    case Code::dim_not_solvable:
    case Code::dim_unbound:
    case Code::type_mismatch:
    case Code::needs_cast:
    case Code::literal_out_of_range:
    case Code::division_by_constant_zero:
    case Code::range_unknown:
    case Code::range_disagrees:
    case Code::read_outside:
    case Code::written_twice:
    case Code::never_written:
    case Code::write_outside:
    case Code::legality_undecided:
    case Code::overflow:
    case Code::too_many_dims:
    case Code::component_index:
    case Code::sharding_rank:
    case Code::bad_split: return true;
    default: return false;
  }
}

// Faults of syntax and names, T01xx and T02xx, which have nothing to do with sizes.
bool is_about_the_text(Code code) { return info(code).id.starts_with("T01") || info(code).id.starts_with("T02"); }

// One way to call an operator: every dim has a size, every pack a rank, every generic a type, every parameter a value.
struct Trial {
  ElementType type;
  std::size_t rank;
  std::int64_t size, step;  // of the first dim, and from each dim to the next
  std::size_t parameters;   // which of the values of its kind the first parameter takes
};

constexpr Trial trials[] = {
    {ElementType::f32, 1, 4, 0, 0},  {ElementType::f32, 2, 3, 0, 0},  {ElementType::i32, 1, 4, 0, 0},
    {ElementType::f32, 0, 5, 0, 0},  {ElementType::f32, 1, 8, 3, 0},  {ElementType::f32, 1, 20, -3, 0},
    {ElementType::i32, 1, 20, 3, 0}, {ElementType::f32, 1, 16, 0, 0}, {ElementType::f32, 3, 2, 0, 0},
};
constexpr const char* int_values[] = {"1", "2", "0", "-1", "3", "-2", "4"};
constexpr std::size_t choices_of_parameters = std::size(int_values) * std::size(int_values);

// Values for the parameters without one, as a caller would write them.
class Parameters {
 public:
  Parameters(const Signature& signature, std::size_t number) {
    for (const auto& param : signature.params) {
      if (param.default_value) continue;
      // The first parameter changes fastest, then the second; all others change with the first.
      std::size_t n = args_.size() == 1 ? number / std::size(int_values) : number;
      const std::string& kind = param.kind.text;
      if (kind == "int" && !param.pack) add(param, int_literal(int_values[n % std::size(int_values)]));
      if (kind == "int" && param.pack && n % 2 == 1) add(param, int_literal("4"));
      if (kind == "float") add(param, ast::FloatLiteral{0.5});
      if (kind == "bool") add(param, ast::BoolLiteral{n % 2 == 0});
      if (kind == "type") add(param, ast::NameRef{n % 2 == 0 ? "f32" : "i32"});
    }
  }
  const ast::Module& module() const { return module_; }
  const std::vector<ast::ParamArg>& args() const { return args_; }
  const std::string& text() const { return text_; }

 private:
  static ast::IntLiteral int_literal(const std::string& text) {
    bool negated = text[0] == '-';
    return {static_cast<std::uint64_t>(text.back() - '0'), negated};
  }
  template <class Node>
  void add(const ast::Param& param, Node node) {
    args_.push_back({param.name, module_.add({{}, node})});
    if (!text_.empty()) text_ += ", ";
    text_ += param.name.text + " = ";
    if constexpr (std::is_same_v<Node, ast::IntLiteral>)
      text_ += (node.negated ? "-" : "") + std::to_string(node.magnitude);
    if constexpr (std::is_same_v<Node, ast::FloatLiteral>) text_ += "0.5";
    if constexpr (std::is_same_v<Node, ast::BoolLiteral>) text_ += node.value ? "true" : "false";
    if constexpr (std::is_same_v<Node, ast::NameRef>) text_ += node.name;
  }

  ast::Module module_;
  std::vector<ast::ParamArg> args_;
  std::string text_;
};

// Sizes for the dims in order of their first use.
class Dims {
 public:
  Dims(Elaboration& elaboration, Env& env, const Trial& trial) : elaboration_(elaboration), env_(env), trial_(trial) {}

  Shape shape_of(const ast::TypeExpr& type) {
    Shape shape;
    for (const auto& item : type.dims) {
      if (item.pack) {
        shape.insert(shape.end(), trial_.rank, trial_.size);
        continue;
      }
      for (int tries = 0; tries < 8; ++tries) {
        auto size = try_size(elaboration_, env_, item.size);
        if (auto* n = std::get_if<std::int64_t>(&size)) {
          shape.push_back(*n);
          break;
        }
        env_.names[std::get<Unbound>(size).name] = DimEntity{std::max<std::int64_t>(next_, 1), {}};
        next_ += trial_.step;
      }
    }
    return shape;
  }

 private:
  Elaboration& elaboration_;
  Env& env_;
  const Trial& trial_;
  std::int64_t next_ = trial_.size;
};

class OperatorTrial {
 public:
  OperatorTrial(Elaboration& elaboration, const Definition& definition)
      : elaboration_(elaboration), definition_(definition), signature_(signature_of(definition)) {}

  void run() {
    check_params(elaboration_, signature_);
    bool has_choices = std::any_of(signature_.params.begin(), signature_.params.end(),
                                   [](const auto& param) { return !param.default_value; });
    for (std::size_t p = 0; p < (has_choices ? choices_of_parameters : 1); ++p)
      for (Trial trial : trials) {
        trial.parameters = p;
        if (attempt(trial)) return;
      }
    for (std::int64_t least : least_sizes()) {
      if (attempt({ElementType::f32, 1, least, 0, 0})) return;
    }
    for (const auto& diagnostic : refusal_) elaboration_.report(diagnostic);
  }

 private:
  // True if no further attempt is needed: it is legal, or always wrong.
  bool attempt(const Trial& trial) {
    Parameters parameters(signature_, trial.parameters);
    Diagnostics found;
    Diagnostics* real = std::exchange(elaboration_.diagnostics, &found);
    bool is_legal = false;
    try {
      call(trial, parameters);
      is_legal = true;
    } catch (const Abandoned&) {  // also if it failed before; it is not reported again
    } catch (const Overflow&) {}
    elaboration_.diagnostics = real;
    if (is_legal) return true;
    bool final = false, about_the_operator = false;
    for (const auto& d : found.all()) {
      if (d.severity() != Severity::error || !d.span.valid()) continue;
      about_the_operator = true;
      final = final || !depends_on_choice(d.code);
    }
    if (about_the_operator && (final || refusal_.empty())) refusal_ = with_trial_note(found, trial, parameters);
    if (final)
      for (const auto& diagnostic : refusal_) elaboration_.report(diagnostic);
    return final;
  }

  void call(const Trial& trial, const Parameters& parameters) {
    Env caller;
    caller.module = &parameters.module();
    caller.scope = definition_.scope;
    Env sizes;
    sizes.module = definition_.module;
    sizes.scope = definition_.scope;
    bind_params(elaboration_, sizes, signature_, caller, parameters.args(), {});
    Dims dims(elaboration_, sizes, trial);
    std::vector<TypedArgument> given;
    for (const auto& input : signature_.inputs)
      given.push_back({{try_type(sizes, input.type.element.text).value_or(trial.type), dims.shape_of(input.type)}, {}});
    instantiate(elaboration_, definition_, caller, parameters.args(), given, {});
  }

  std::vector<Diagnostic> with_trial_note(const Diagnostics& found, const Trial& trial,
                                          const Parameters& parameters) const {
    const std::string size = std::to_string(trial.size), type(name_of(trial.type));
    const std::string dims =
        trial.step == 0
            ? "every dim " + size
            : "the dims " + size + ", " + std::to_string(std::max<std::int64_t>(trial.size + trial.step, 1)) + ", …";
    const std::string with = quoted(signature_.name.text) + " is checked on its own here, with " + dims +
                             ", every pack " + counted(trial.rank, "dim") + " long, " +
                             (parameters.text().empty() ? "and element type " + type
                                                        : "element type " + type + ", and " + parameters.text());
    std::vector<Diagnostic> result;
    for (Diagnostic d : found.all()) {
      if (!d.span.valid()) continue;
      std::erase_if(d.labels, [](const Label& label) { return !label.span.valid(); });
      if (!is_about_the_text(d.code)) d.note(with);
      result.push_back(std::move(d));
    }
    return result;
  }

  // Above twice the largest number in the operator's source, `x[100]` is in bounds.
  std::vector<std::int64_t> least_sizes() const {
    std::string text = std::string(elaboration_.sources.text(definition_.part));
    std::int64_t largest = 0, number = 0;
    for (char c : text) {
      number = c >= '0' && c <= '9' ? std::min<std::int64_t>(number * 10 + (c - '0'), 1 << 20) : 0;
      largest = std::max(largest, number);
    }
    return largest > 4 ? std::vector<std::int64_t>{2 * largest + 3, 2 * largest, largest} : std::vector<std::int64_t>{};
  }

  Elaboration& elaboration_;
  const Definition& definition_;
  Signature signature_;
  std::vector<Diagnostic> refusal_;
};

}  // namespace

void check_uncalled_operators(Elaboration& elaboration, const ModuleScope& scope) {
  for (const Definition* definition : scope.in_order) {
    try {
      if (definition->sort == Sort::monoid && !elaboration.instantiated.count(definition->declaration))
        try_monoid(elaboration, *definition);
      if (definition->sort == Sort::op && !elaboration.instantiated.count(definition->declaration))
        OperatorTrial(elaboration, *definition).run();
    } catch (const Abandoned&) {}
  }
}

}  // namespace tap
