#include "compiler/frontend/elaborate/annotations.h"

#include <algorithm>
#include <set>

#include "compiler/frontend/elaborate/body.h"
#include "compiler/frontend/elaborate/monoids.h"
#include "compiler/frontend/elaborate/sizes.h"
#include "compiler/frontend/syntax/builtins.h"
#include "ir/graph.h"
#include "ir/shardings/mesh_names.h"
#include "ir/shardings/mesh_position.h"
#include "support/checked.h"

namespace tap {
namespace {

constexpr std::int64_t max_devices = 1 << 24;

ir::Mesh mesh_of(Elaboration& elaboration, const ast::MeshDecl& decl) {
  ir::Mesh mesh;
  mesh.name = decl.name.text;
  std::int64_t devices = 1;
  for (const auto& axis : decl.axes) {
    for (const auto& other : decl.axes) {
      if (&other == &axis) break;
      if (other.name.text == axis.name.text)
        elaboration.fail(
            Diagnostic(Code::bad_mesh, axis.name.span,
                       "the mesh " + quoted(mesh.name) + " has the axis " + quoted(axis.name.text) + " twice")
                .label(other.name.span, "first declared here"));
    }
    if (axis.size < 1)
      elaboration.fail(Diagnostic(
          Code::bad_mesh, axis.name.span,
          "the size of the axis " + quoted(axis.name.text) + " must be at least 1; got " + std::to_string(axis.size)));
    try {
      devices = checked::mul(devices, axis.size);
    } catch (const Overflow&) { devices = max_devices + 1; }
    if (devices > max_devices)
      elaboration.fail(Diagnostic(
          Code::bad_mesh, axis.name.span,
          "the mesh " + quoted(mesh.name) + " has more than " + std::to_string(max_devices) + " devices, the limit"));
    mesh.axes.push_back({axis.name.text, axis.size});
  }
  if (decl.devices) {
    auto count = static_cast<std::int64_t>(decl.devices->size());
    if (count != devices)
      elaboration.fail(Diagnostic(
          Code::bad_mesh, decl.devices_span,
          "the mesh " + quoted(mesh.name) + " has " + counted(devices, "device") + "; got " + counted(count, "id")));
    // A mesh without axes is one device, with any id.
    const bool maximal = mesh.axes.empty() && count == 1 && decl.devices->front() < max_devices;
    std::vector<bool> seen(decl.devices->size(), false);
    for (std::int64_t id : *decl.devices) {
      if (maximal) break;
      bool inside = id >= 0 && id < count;
      if (!inside || seen[static_cast<std::size_t>(id)])
        elaboration.fail(Diagnostic(Code::bad_mesh, decl.devices_span,
                                    "the device ids of " + quoted(mesh.name) + " are not a permutation of 0.." +
                                        std::to_string(count) + ": " + std::to_string(id) +
                                        (inside ? " occurs twice" : " is out of range")));
      seen[static_cast<std::size_t>(id)] = true;
    }
    mesh.devices = *decl.devices;
  }
  return mesh;
}

void add_mesh(Elaboration& elaboration, const ModuleScope& scope, const ast::MeshDecl& decl) {
  ir::Mesh mesh = mesh_of(elaboration, decl);
  if (const ir::Mesh* other = ir::with_other_devices(elaboration.program.meshes, mesh)) {
    Diagnostic diagnostic(Code::bad_mesh, decl.name.span,
                          "the mesh " + quoted(mesh.name) + " has " + ir::devices_in_words(mesh) + ", and the mesh " +
                              quoted(other->name) + " has " + ir::devices_in_words(*other) +
                              "; all meshes of a program are views of one set of devices");
    ast::Name name = decl.name;
    name.text = other->name;
    if (const Definition* d = elaboration.definitions.find(scope, Sort::mesh, name))
      diagnostic.label(d->name_span, quoted(other->name) + " is declared here");
    elaboration.fail(std::move(diagnostic).help("give both meshes the same number of devices"));
  }
  elaboration.program.meshes.push_back(std::move(mesh));
}

class ShardingResolver {
 public:
  ShardingResolver(Elaboration& elaboration, const ModuleScope& scope, const ast::Sharding& written,
                   const ir::TensorType& type)
      : elaboration_(elaboration), scope_(scope), written_(written), type_(type) {}

  ir::Sharding resolve() {
    const ir::MeshId mesh = mesh_named(elaboration_, scope_, written_.mesh);
    mesh_ = &elaboration_.program[mesh];
    if (written_.dims.size() != type_.shape.size())
      elaboration_.fail(Diagnostic(Code::sharding_rank, written_.span,
                                   "the number of dimension shardings must match the rank of the tensor: it is " +
                                       std::to_string(type_.shape.size()) + "; got " +
                                       std::to_string(written_.dims.size())));
    ir::Sharding result;
    result.mesh = mesh;
    for (const auto& dim : written_.dims) result.dims.push_back(dim_of(dim));
    std::vector<std::pair<ir::AxisRef, ast::AxisRef>> replicated;
    for (const auto& axis : written_.replicated) replicated.emplace_back(axis_of(axis), axis);
    std::sort(replicated.begin(), replicated.end(),
              [&](const auto& a, const auto& b) { return order(a.first) < order(b.first); });
    std::vector<ast::AxisRef> written;
    for (const auto& [axis, as_written] : replicated) result.replicated.push_back(axis), written.push_back(as_written);
    refuse_mergeable(result.replicated, written);
    for (const auto& axis : written_.unreduced) result.unreduced.push_back(axis_of(axis));
    refuse_mergeable(result.unreduced, written_.unreduced);
    if (written_.unreduced_monoid) {
      require_reduces(*written_.unreduced_monoid);
      result.unreduced_monoid = written_.unreduced_monoid->text;
    } else if (!result.unreduced.empty()) {
      result.unreduced_monoid = "sum";
    }
    return result;
  }

 private:
  // Partials are combined cell by cell later: by a monoid of one component, of the tensor's type.
  void require_reduces(const ast::Name& name) {
    std::string element(name_of(type_.element));
    if (is_builtin_reduction(name.text)) {
      if (builtin_monoid_of(elaboration_, name.text, type_.element)) return;
      elaboration_.fail(Diagnostic(Code::type_mismatch, name.span,
                                   quoted(name.text) + " does not reduce " + element + ", the type of this tensor"));
    }
    const Definition* definition = elaboration_.definitions.find(scope_, Sort::monoid, name);
    if (!definition) {
      auto known = elaboration_.definitions.names(scope_, Sort::monoid);
      for (const char* builtin : {"all", "any", "max", "min", "prod", "sum"}) known.push_back(builtin);
      elaboration_.fail(with_near_name(Diagnostic(Code::unknown_name, name.span, "unknown monoid " + quoted(name.text)),
                                       name.span, name.text, known));
    }
    // A generic monoid is instantiated for this tensor's type.
    std::vector<TypedComponent> given(definition->as<ast::MonoidDecl>()->components.size(),
                                      TypedComponent{type_.element, name.span});
    const ir::Monoid& monoid = elaboration_.program[monoid_of(elaboration_, *definition, given, name.span).id];
    if (monoid.arity() == 1 && monoid.components[0].type == compute_type(type_.element)) return;
    elaboration_.fail(Diagnostic(Code::type_mismatch, name.span,
                                 quoted(name.text) + " combines " +
                                     (monoid.arity() == 1 ? std::string(name_of(monoid.components[0].type))
                                                          : counted(monoid.arity(), "component")) +
                                     "; this tensor holds " + element)
                          .label(definition->name_span, "declared here"));
  }

  ir::DimSharding dim_of(const ast::DimSharding& dim) {
    ir::DimSharding result;
    result.open = dim.open;
    for (const auto& axis : dim.axes) { result.axes.push_back(axis_of(axis)); }
    refuse_mergeable(result.axes, dim.axes);
    if (dim.priority) {
      if (*dim.priority < 0 || *dim.priority > 0x7fffffff)
        elaboration_.fail(Diagnostic(Code::bad_priority, dim.span,
                                     "priorities are 0 to 2147483647; got " + std::to_string(*dim.priority)));
      if (dim.axes.empty() && !dim.open)
        elaboration_.fail(
            Diagnostic(Code::bad_priority, dim.span,
                       "an empty closed dimension sharding cannot have a priority: it would have no effect")
                .help("write `{}` or `{?}p" + std::to_string(*dim.priority) + "`"));
      result.priority = dim.priority;
    }
    return result;
  }

  static std::pair<ir::AxisId, std::int64_t> order(const ir::AxisRef& axis) {
    return {axis.id, axis.sub ? axis.sub->pre_size : 1};
  }

  ir::AxisRef axis_of(const ast::AxisRef& axis) {
    ir::AxisRef result = resolve_axis(elaboration_, *mesh_, axis);
    refuse_overlap(result, axis.span);
    return result;
  }

  // Two parts of one axis are compatible if they do not overlap and some mixed radix has both.
  void refuse_overlap(const ir::AxisRef& axis, Span span) {
    const std::int64_t n = (*mesh_)[axis.id].size;
    ir::SubAxis mine = axis.sub.value_or(ir::SubAxis{1, n});
    for (const auto& [other, where] : used_) {
      if (other.id != axis.id) continue;
      ir::SubAxis theirs = other.sub.value_or(ir::SubAxis{1, n});
      ir::SubAxis lo = mine.pre_size <= theirs.pre_size ? mine : theirs,
                  hi = mine.pre_size <= theirs.pre_size ? theirs : mine;
      // A full axis, even of size 1, overlaps with every other part.
      bool disjoint = axis.sub && other.sub && lo.pre_size * lo.size <= hi.pre_size &&
                      hi.pre_size % (lo.pre_size * lo.size) == 0;
      if (disjoint) continue;
      const char* rule = "axes or sub-axes can only appear once in a sharding: ";
      if (axis.sub && other.sub && lo.pre_size * lo.size > hi.pre_size && !(mine == theirs))
        rule = "sub-axes in a sharding must not overlap: ";
      else if (axis.sub && other.sub && !(mine == theirs))
        rule = "sub-axes in a sharding must belong to one factorisation of their axis: ";
      elaboration_.fail(Diagnostic(Code::axis_used_twice, span,
                                   rule + quoted(source_of(elaboration_, span)) + " conflicts with " +
                                       quoted(source_of(elaboration_, where)))
                            .at_caret("used here")
                            .label(where, "and here"));
    }
    used_.emplace_back(axis, span);
  }

  // data:(1)2 followed by data:(2)2 is data:(1)4; merges a sequence of parts at once. Replicated axes are sorted first,
  // since their parts may be in any order, with others in between.
  void refuse_mergeable(const std::vector<ir::AxisRef>& axes, const std::vector<ast::AxisRef>& written) {
    auto continues = [](const ir::AxisRef& a, const ir::AxisRef& b) {
      return a.id == b.id && a.sub && b.sub && a.sub->pre_size * a.sub->size == b.sub->pre_size;
    };
    for (std::size_t first = 0, last; first < axes.size(); first = last + 1) {
      last = first;
      std::int64_t size = axes[first].sub ? axes[first].sub->size : 1;
      while (last + 1 < axes.size() && continues(axes[last], axes[last + 1])) size *= axes[++last].sub->size;
      if (last == first) continue;
      const ir::AxisRef& a = axes[first];
      const ir::MeshAxis& full = (*mesh_)[a.id];
      std::string merged = size == full.size
                               ? full.name
                               : full.name + ":(" + std::to_string(a.sub->pre_size) + ")" + std::to_string(size);
      Span span = written[first].span;
      for (std::size_t i = first; i <= last; ++i)
        span = {span.file, std::min(span.begin, written[i].span.begin), std::max(span.end, written[i].span.end)};
      auto inside = std::count_if(written.begin(), written.end(), [&](const ast::AxisRef& other) {
        return other.span.begin >= span.begin && other.span.end <= span.end;
      });
      Diagnostic d(Code::mergeable_sub_axes, span,
                   "adjacent sub-axes of " + quoted(full.name) + " must be merged into " + quoted(merged));
      d.help("write " + quoted(merged));
      if (static_cast<std::size_t>(inside) == last - first + 1) d.fix(span, merged);
      elaboration_.fail(std::move(d));
    }
  }

  Elaboration& elaboration_;
  const ModuleScope& scope_;
  const ast::Sharding& written_;
  const ir::TensorType& type_;
  const ir::Mesh* mesh_ = nullptr;
  std::vector<std::pair<ir::AxisRef, Span>> used_;
};

}  // namespace

void declare_meshes(Elaboration& elaboration, const ModuleScope& scope) {
  for (const Definition* d : scope.in_order) {
    if (d->sort != Sort::mesh) continue;
    try {
      add_mesh(elaboration, scope, *d->as<ast::MeshDecl>());
    } catch (const Abandoned&) {}
  }
}

ir::MeshId mesh_named(Elaboration& elaboration, const ModuleScope& scope, const ast::Name& name) {
  if (auto mesh = ir::find_mesh(elaboration.program.meshes, name.text)) return *mesh;
  // Its declaration has an error, which was reported; or a used module declares it.
  if (const Definition* d = elaboration.definitions.find(scope, Sort::mesh, name)) {
    if (d->scope == &scope) throw Abandoned{};
    add_mesh(elaboration, scope, *d->as<ast::MeshDecl>());
    return ir::MeshId(elaboration.program.meshes.size() - 1);
  }
  std::vector<std::string> names;
  for (const auto& mesh : elaboration.program.meshes) names.push_back(mesh.name);
  elaboration.fail(with_near_name(Diagnostic(Code::unknown_axis, name.span, "unknown mesh " + quoted(name.text)),
                                  name.span, name.text, names));
}

ir::AxisRef resolve_axis(Elaboration& elaboration, const ir::Mesh& mesh, const ast::AxisRef& axis) {
  const std::optional<ir::AxisId> id = ir::find_axis(mesh, axis.name.text);
  if (!id) {
    std::vector<std::string> names;
    for (const auto& known : mesh.axes) names.push_back(known.name);
    elaboration.fail(
        with_near_name(Diagnostic(Code::unknown_axis, axis.name.span,
                                  "the mesh " + quoted(mesh.name) + " has no axis " + quoted(axis.name.text)),
                       axis.name.span, axis.name.text, names));
  }
  if (!axis.sub) return {*id, std::nullopt};
  const std::int64_t n = mesh[*id].size;
  auto [m, k] = *axis.sub;
  auto refuse = [&](const std::string& why) {
    elaboration.fail(Diagnostic(Code::bad_sub_axis, axis.span,
                                quoted(source_of(elaboration, axis.span)) + " is not a sub-axis of " +
                                    quoted(axis.name.text) + " (size " + std::to_string(n) + "): " + why));
  };
  if (m < 1) refuse("the pre-size, in parentheses, must be at least 1; got " + std::to_string(m));
  if (k < 2) refuse("the size must be greater than 1; got " + std::to_string(k));
  if (m > n || k > n || n % (m * k) != 0)
    refuse("pre-size times size, " + std::to_string(m) + "*" + std::to_string(k) + ", must divide " +
           std::to_string(n));
  if (k == n) refuse("a sub-axis of the full size is written as the full axis, " + quoted(axis.name.text));
  return {*id, ir::SubAxis{m, k}};
}

ir::Sharding resolve_sharding(Elaboration& elaboration, const ModuleScope& scope, const ast::Sharding& sharding,
                              const ir::TensorType& type) {
  return ShardingResolver(elaboration, scope, sharding, type).resolve();
}

}  // namespace tap
