#include "compiler/frontend/elaborate/externs.h"

#include <algorithm>

#include "compiler/frontend/cells/cell_constants.h"
#include "compiler/frontend/cells/cells.h"
#include "compiler/frontend/elaborate/body.h"
#include "compiler/frontend/elaborate/monoids.h"
#include "compiler/frontend/elaborate/signature.h"
#include "compiler/frontend/elaborate/sizes.h"
#include "compiler/frontend/proofs/prove.h"
#include "compiler/frontend/syntax/builtins.h"
#include "ir/graph.h"

namespace tap {
namespace {

class ExternBuilder {
 public:
  ExternBuilder(Elaboration& elaboration, const ast::ExternDecl& decl, const Env& callee,
                const std::vector<TypedArgument>& given)
      : elaboration_(elaboration), decl_(decl), env_(callee), given_(given), space_(elaboration) {}

  Instance build() {
    op_.name = decl_.name.text;
    check_form();
    for (const auto& tensor : given_) op_.operands.push_back(tensor.type);
    for (const auto& result : decl_.results)
      op_.results.push_back(
          {eval_type(elaboration_, env_, result.type.element), eval_shape(elaboration_, env_, result.type).shape});
    ir::KernelBody body{decl_.kernel, std::nullopt, std::nullopt};
    index_dims();
    body.reduced_by = monoid();
    for (const auto& read : decl_.reads) op_.reads.push_back(access(read, decl_.inputs, op_.operands, false));
    for (const auto& write : decl_.writes) op_.writes.push_back(access(write, decl_.results, op_.results, true));
    if (decl_.cost_flops) body.flops = flops(*decl_.cost_flops);
    if (body.reduced_by) check_monoid(elaboration_.program[*body.reduced_by]);
    op_.body = std::move(body);
    for (const auto& input : decl_.inputs) op_.operand_names.push_back(input.name.text);
    for (const auto& result : decl_.results) op_.result_names.push_back(result.name.text);
    return finish();
  }

 private:
  // Errors that do not depend on sizes.
  void check_form() {
    auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    const std::string& symbol = decl_.kernel;
    bool is_symbol = !symbol.empty() && is_letter(symbol[0]) && std::all_of(symbol.begin(), symbol.end(), [&](char c) {
      return is_letter(c) || (c >= '0' && c <= '9');
    });
    if (!is_symbol)
      elaboration_.fail(Diagnostic(Code::literal_form, decl_.kernel_span,
                                   "the name of a kernel must be a C identifier, as in `kernel \"smooth_rows\"`; got " +
                                       quoted("\"" + symbol + "\"")));
    for (const auto* list : {&decl_.inputs, &decl_.results})
      for (const auto& tensor : *list)
        if (tensor.sharding)
          elaboration_.fail(
              Diagnostic(Code::wrong_kind_of_name, tensor.sharding->span,
                         "an outside kernel has no shardings: they belong to the values of a program")
                  .help("write the sharding at the call, for example " + quoted(decl_.name.text + "(X @ pod[…])")));
    const ast::ExternIndex* reduced = nullptr;
    for (const auto& index : decl_.index) {
      if (!index.reduce_by) continue;
      if (reduced && reduced->reduce_by->text != index.reduce_by->text)
        elaboration_.fail(Diagnostic(Code::bad_monoid, index.reduce_by->span,
                                     "a kernel must reduce by one monoid; got " + quoted(reduced->reduce_by->text) +
                                         " and " + quoted(index.reduce_by->text))
                              .label(reduced->reduce_by->span, "the other one"));
      reduced = &index;
    }
  }

  const Span* tensor_named(const std::string& name) const {
    for (const auto* list : {&decl_.inputs, &decl_.results})
      for (const auto& tensor : *list)
        if (tensor.name.text == name) return &tensor.name.span;
    return nullptr;
  }

  std::int64_t flops(ast::ExprId written) {
    std::int64_t n = eval_size(elaboration_, env_, written);
    if (n >= 0) return n;
    elaboration_.fail(Diagnostic(Code::bad_size, env_[written].span,
                                 "the cost of an index point is " + std::to_string(n) + " flops; expected 0 or more"));
  }

  std::optional<ir::MonoidId> monoid() {
    for (const auto& index : decl_.index)
      if (index.reduce_by) return reduced_by(*index.reduce_by);
    return std::nullopt;
  }

  // The k-th write has the k-th component of the monoid.
  void check_monoid(const ir::Monoid& monoid) {
    const ast::Name* name = nullptr;
    for (const auto& index : decl_.index)
      if (index.reduce_by) name = &*index.reduce_by;
    if (monoid.arity() != op_.writes.size())
      elaboration_.fail(Diagnostic(Code::bad_monoid, name->span,
                                   "the kernel must have one write for each component of " + quoted(name->text) +
                                       ": expected " + counted(monoid.arity(), "write") + "; got " +
                                       std::to_string(op_.writes.size())));
    for (std::size_t k = 0; k < monoid.arity(); ++k) {
      const auto& result = decl_.results[op_.writes[k].tensor];
      ElementType element = op_.results[op_.writes[k].tensor].element, expected = monoid.components[k].type;
      if (compute_type(element) != expected)
        elaboration_.fail(Diagnostic(Code::type_mismatch, name->span,
                                     quoted(name->text) + " reduces " + std::string(name_of(expected)) + "; " +
                                         quoted(result.name.text) + " holds " + std::string(name_of(element)))
                              .label(result.name.span, "declared here"));
    }
  }

  void index_dims() {
    for (const auto& index : decl_.index) {
      for (const auto& dim : op_.dims)
        if (dim.name == index.name.text)
          elaboration_.fail(
              Diagnostic(Code::variable_rebound, index.name.span, quoted(index.name.text) + " is an index dim twice"));
      if (env_.find(index.name.text))
        elaboration_.fail(
            Diagnostic(Code::dim_bound_as_variable, index.name.span,
                       quoted(index.name.text) + " is a dim, parameter or tensor and cannot be an index dim"));
      if (const Span* tensor = tensor_named(index.name.text))
        elaboration_.fail(Diagnostic(Code::duplicate_name, index.name.span,
                                     quoted(index.name.text) + " is a tensor of this kernel and cannot be an index dim")
                              .label(*tensor, "declared here"));
      std::int64_t extent = eval_size(elaboration_, env_, index.extent);
      if (extent < 0)
        elaboration_.fail(Diagnostic(
            Code::bad_size, index.span,
            "the extent of " + quoted(index.name.text) + " is " + std::to_string(extent) + "; expected 0 or more"));
      ir::IndexDim dim{index.name.text, {0, extent}};
      dim.keep = index.keep;
      if (index.reduce_by) dim.role = ir::DimRole::reduction;
      op_.dims.push_back(dim);
    }
    vars_ = space_.over_shape(op_.box().shape(), decl_.name.span);
    for (std::size_t i = 0; i < vars_.size(); ++i) env_.names[op_.dims[i].name] = VarEntity{vars_[i]};
  }

  ir::MonoidId reduced_by(const ast::Name& name) {
    if (is_builtin_reduction(name.text)) {
      ElementType type = op_.results.empty() ? ElementType::f32 : op_.results[0].element;
      if (auto id = builtin_monoid_of(elaboration_, name.text, type)) return *id;
      elaboration_.fail(Diagnostic(Code::type_mismatch, name.span,
                                   quoted(name.text) + " does not reduce " + std::string(name_of(type))));
    }
    const Definition* definition = elaboration_.definitions.find(*env_.scope, Sort::monoid, name);
    if (!definition)
      elaboration_.fail(Diagnostic(Code::unknown_name, name.span, "unknown monoid " + quoted(name.text)));
    std::vector<TypedComponent> given;  // write k holds component k
    for (const auto& write : decl_.writes)
      for (std::size_t r = 0; r < decl_.results.size(); ++r)
        if (decl_.results[r].name.text == write.tensor.text)
          given.push_back({op_.results[r].element, decl_.results[r].type.span});
    return monoid_of(elaboration_, *definition, given, name.span).id;
  }

  ir::Access access(const ast::ExternAccess& region, const std::vector<ast::TensorParam>& params,
                    const std::vector<ir::TensorType>& types, bool written) {
    auto found =
        std::find_if(params.begin(), params.end(), [&](const auto& p) { return p.name.text == region.tensor.text; });
    if (found == params.end())
      elaboration_.fail(Diagnostic(Code::unknown_name, region.tensor.span,
                                   quoted(region.tensor.text) + " is not " + (written ? "a result" : "an input") +
                                       " of " + quoted(decl_.name.text)));
    ir::Access access;
    access.tensor = static_cast<std::uint32_t>(found - params.begin());
    const ir::TensorType& type = types[access.tensor];
    if (region.at.size() != type.shape.size() || region.shape.size() != type.shape.size())
      elaboration_.fail(Diagnostic(Code::rank_mismatch, region.span,
                                   quoted(region.tensor.text) + " has " + counted(type.shape.size(), "axis", "axes") +
                                       "; got " + counted(region.at.size(), "coordinate") + " and " +
                                       counted(region.shape.size(), "extent")));
    access.projection.start.inputs = op_.dims.size();
    for (ast::ExprId at : region.at) {
      AxisIndex index{AxisIndex::Kind::expression, at, {}, 0, env_[at].span};
      VarAffine start = space_.affine_or_fail(env_, index);
      ir::AffineExpr row = ir::AffineExpr::constant(op_.dims.size(), start.offset);
      for (const auto& [var, coefficient] : start.terms)
        row.coefficients[static_cast<std::size_t>(std::find(vars_.begin(), vars_.end(), var) - vars_.begin())] =
            coefficient;
      if (written) not_along_reduced(region, at, row);
      access.projection.start.rows.push_back(std::move(row));
    }
    for (ast::ExprId extent : region.shape) {
      std::int64_t n = eval_size(elaboration_, env_, extent);
      if (n < 0)
        elaboration_.fail(Diagnostic(Code::bad_size, env_[extent].span,
                                     "a region's extent is " + std::to_string(n) + "; expected 0 or more"));
      access.projection.shape.push_back(n);
    }
    if (region.fill) { access.fill = op_.exprs.constant(fill(*region.fill, type.element, found->type.span)); }
    spans_.push_back(region.span);
    return access;
  }

  // A block of a reduced dim gives a partial of the whole region: the position of that region must not depend on the
  // block.
  void not_along_reduced(const ast::ExternAccess& region, ast::ExprId at, const ir::AffineExpr& row) {
    for (std::size_t dim = 0; dim < op_.dims.size(); ++dim) {
      if (row.coefficients[dim] == 0 || op_.dims[dim].role != ir::DimRole::reduction) continue;
      const ast::ExternIndex& index = decl_.index[dim];
      std::string plain = index.name.text + ": " + source_of(elaboration_, env_[index.extent].span);
      elaboration_.fail(Diagnostic(Code::reduced_dim_written, env_[at].span,
                                   "the write of " + quoted(region.tensor.text) + " must not depend on " +
                                       quoted(index.name.text) + ", which is a reduction dim")
                            .label(index.span, "declared here")
                            .help("declare it as " + quoted(plain) + " if each value of " + quoted(index.name.text) +
                                  " writes different cells")
                            .fix(index.span, plain));
    }
  }

  ir::Scalar fill(ast::ExprId written, ElementType type, Span declared) {
    CellElaborator cells(elaboration_, nullptr, space_, decl_.name.text);
    Frame frame(space_);
    ir::CellId cell = cells.of_type(env_, written, frame, type, declared, "declared here");
    if (auto value = constant_value(frame.cells, frame.cells.cast(cell, type))) return *value;
    Span span = env_[written].span;
    elaboration_.fail(Diagnostic(
        Code::type_mismatch, span,
        "the fill of an outside kernel's read must be a constant; got " + quoted(source_of(elaboration_, span))));
  }

  Instance finish() {
    Instance instance;
    instance.results = op_.results;
    for (const auto& result : decl_.results) instance.result_names.push_back(result.name.text);
    instance.op = elaboration_.interner.add(op_);
    instance.names = names_if_different(elaboration_.program[instance.op], names_of(op_));
    std::vector<Span> read_spans(spans_.begin(), spans_.begin() + static_cast<std::ptrdiff_t>(decl_.reads.size()));
    prove_reads(elaboration_, instance.op, instance.names, read_spans, {}, *env_.module);
    for (std::size_t r = 0; r < op_.results.size(); ++r) {
      std::vector<WriterAt> writers;
      for (std::size_t w = 0; w < op_.writes.size(); ++w)
        if (op_.writes[w].tensor == r)
          writers.push_back(
              {instance.op, static_cast<std::uint32_t>(w), spans_[decl_.reads.size() + w], instance.names});
      prove_writes(elaboration_, decl_.results[r].name.text, decl_.results[r].name.span, op_.results[r].shape, writers);
    }
    return instance;
  }

  Elaboration& elaboration_;
  const ast::ExternDecl& decl_;
  Env env_;
  const std::vector<TypedArgument>& given_;
  IndexSpace space_;
  std::vector<VarId> vars_;
  std::vector<Span> spans_;
  ir::Operator op_;
};

}  // namespace

Instance build_extern(Elaboration& elaboration, const Definition& definition, const Env& callee,
                      const std::vector<TypedArgument>& given) {
  return ExternBuilder(elaboration, *definition.as<ast::ExternDecl>(), callee, given).build();
}

}  // namespace tap
