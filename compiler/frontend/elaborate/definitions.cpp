#include "compiler/frontend/elaborate/definitions.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "compiler/frontend/cells/reduction_reach.h"
#include "compiler/frontend/elaborate/declared_names.h"
#include "compiler/frontend/syntax/builtins.h"
#include "support/check.h"
#include "support/read_file.h"

namespace tap {
namespace {

constexpr std::uintmax_t max_module_bytes = 64u << 20;

std::optional<Sort> sort_of_keyword(std::string_view keyword) {
  if (keyword == "op" || keyword == "extern") return Sort::op;
  if (keyword == "monoid") return Sort::monoid;
  if (keyword == "dim") return Sort::dim;
  if (keyword == "mesh") return Sort::mesh;
  if (keyword == "program") return Sort::program;
  return std::nullopt;
}

// A source file is not trusted: the files that it uses must be in its folder or below, also after following links.
bool leaves_its_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::filesystem::path root = std::filesystem::canonical(folder.empty() ? "." : folder, error);
  if (error) return false;  // reading it reports the error
  std::filesystem::path real = std::filesystem::canonical(path, error);
  return !error && *real.lexically_relative(root).begin() == "..";
}

std::string reason(const FileRefusal& refusal) {
  switch (refusal.why) {
    case FileRefusal::Why::system:
      return refusal.error == ENOENT ? "does not exist"
                                     : std::string("cannot be read: ") + std::strerror(refusal.error);
    case FileRefusal::Why::not_regular: return "is " + std::string(refusal.kind) + ", not a regular file";
    case FileRefusal::Why::too_large: return "is larger than 64 MiB";
  }
  TAP_UNREACHABLE("refusal");
}

std::string_view noun_with_article(Sort sort) {
  switch (sort) {
    case Sort::op: return "an operator";
    case Sort::monoid: return "a monoid";
    case Sort::dim: return "a dim";
    case Sort::mesh: return "a mesh";
    case Sort::program: return "a program";
  }
  TAP_UNREACHABLE("sort");
}

}  // namespace

Definitions::Definitions(SourceMap& sources, Diagnostics& diagnostics, std::string_view standard_library)
    : sources_(sources), diagnostics_(diagnostics), standard_library_(standard_library) {}
Definitions::~Definitions() = default;

ModuleScope* Definitions::load(FileId file) {
  auto module = parse(sources_, file, {}, diagnostics_);
  if (!module) return nullptr;
  scopes_.push_back(std::make_unique<ModuleScope>());
  ModuleScope& scope = *scopes_.back();
  scope.file = file;
  std::filesystem::path path(sources_.file(file).path());
  scope.name = path.stem().string();
  by_path_.emplace_back(path.lexically_normal().string(), nullptr);
  modules_.push_back(std::make_unique<ast::Module>(std::move(*module)));
  const ast::Module& tree = *modules_.back();
  warn_of_far_reductions(sources_, tree, diagnostics_);
  for (const auto& declaration : tree.declarations) {
    check_declared_names(tree, declaration, diagnostics_);
    declare(scope, tree, declaration);
  }
  for (auto& [loaded, target] : by_path_)
    if (loaded == path.lexically_normal().string()) target = &scope;
  return &scope;
}

void Definitions::declare(ModuleScope& scope, const ast::Module& module, const ast::Declaration& declaration) {
  auto named = [&](Sort sort, const ast::Name& name) {
    add(scope, {sort, name.text, &scope, name.span, declaration.span, &module, &declaration});
  };
  if (auto* use = std::get_if<ast::UseDecl>(&declaration.node)) {
    if (ModuleScope* used = load_used(*use, scope)) scope.uses.push_back(used);
  } else if (auto* dim = std::get_if<ast::DimDecl>(&declaration.node)) {
    named(Sort::dim, dim->name);
  } else if (auto* mesh = std::get_if<ast::MeshDecl>(&declaration.node)) {
    named(Sort::mesh, mesh->name);
  } else if (auto* monoid = std::get_if<ast::MonoidDecl>(&declaration.node)) {
    named(Sort::monoid, monoid->name);
  } else if (auto* op = std::get_if<ast::OpDecl>(&declaration.node)) {
    named(Sort::op, op->name);
  } else if (auto* outside = std::get_if<ast::ExternDecl>(&declaration.node)) {
    named(Sort::op, outside->name);
  } else if (auto* program = std::get_if<ast::ProgramDecl>(&declaration.node)) {
    named(Sort::program, program->name);
  } else {
    scope.rewrites.emplace_back(&module, &declaration);
  }
}

void Definitions::add(ModuleScope& scope, Definition definition) {
  // Programs are not named in expressions, so their names are unrestricted.
  if (definition.sort != Sort::program && is_reserved(definition.name)) {
    diagnostics_.report(Diagnostic(Code::reserved_name, definition.name_span,
                                   "`" + definition.name + "` is a built-in name and cannot be declared as " +
                                       std::string(noun_with_article(definition.sort)))
                            .help("choose another name, for example `" + definition.name + "_`"));
    return;
  }
  // On a command line and in messages, `f` must be unique.
  if (definition.sort == Sort::op || definition.sort == Sort::program) {
    Sort other = definition.sort == Sort::op ? Sort::program : Sort::op;
    if (const Definition* first = own_of(scope, other, definition.name)) {
      diagnostics_.report(Diagnostic(Code::duplicate_name, definition.name_span,
                                     "`" + definition.name + "` is " + std::string(noun_with_article(other)) +
                                         "; an operator and a program of one file need different names")
                              .label(first->name_span, "first declared here"));
      return;
    }
  }
  auto& table = scope.own[static_cast<std::size_t>(definition.sort)];
  if (auto found = table.find(definition.name); found != table.end()) {
    diagnostics_.report(
        Diagnostic(Code::duplicate_name, definition.name_span,
                   "`" + definition.name + "` is declared twice as " + std::string(noun_with_article(definition.sort)))
            .at_caret("declared again here")
            .label(found->second->name_span, "first declared here"));
    return;
  }
  definitions_.push_back(std::make_unique<Definition>(std::move(definition)));
  Definition* added = definitions_.back().get();
  table.emplace(added->name, added);
  scope.in_order.push_back(added);
}

ModuleScope* Definitions::load_used(const ast::UseDecl& use, const ModuleScope& from) {
  const std::string& name = use.module.text;
  std::filesystem::path importer(sources_.file(from.file).path());
  std::string key = name == "std" ? std::string("std")
                                  : (importer.parent_path() / (name + ".tap")).lexically_normal().string();
  for (auto& [path, scope] : by_path_) {
    if (path != key) continue;
    if (scope) return scope;
    std::string cycle;
    for (auto& [other, open] : by_path_)
      if (!open) cycle += other + " uses ";
    diagnostics_.report(
        Diagnostic(Code::bad_use, use.module.span, "the modules use each other in a cycle: " + cycle + key));
    return nullptr;
  }
  if (name == "std") return standard();

  auto refuse = [&](const std::string& why) {
    Diagnostic refusal(Code::bad_use, use.module.span, "module `" + name + "` cannot be used: " + key + " " + why);
    if (auto near = did_you_mean(name, {"std"}))
      refusal.help("did you mean `std`, the standard operators?").fix(use.module.span, *near);
    else
      refusal.help("`use " + name + "` reads `" + name +
                   ".tap` from the folder of the file that uses it; the standard operators are in `std`");
    diagnostics_.report(std::move(refusal));
    return nullptr;
  };
  if (leaves_its_folder(key)) return refuse("is a link to a file outside its folder");
  auto read = read_regular_file(key, max_module_bytes);
  if (auto* refusal = std::get_if<FileRefusal>(&read)) return refuse(reason(*refusal));
  return load(sources_.add(key, std::move(std::get<std::string>(read))));
}

ModuleScope* Definitions::standard() {
  for (auto& [path, scope] : by_path_)
    if (path == "std") return scope;
  return load_library("std", sources_.add("std.tap", std::string(standard_library_)));
}

std::vector<std::string> Definitions::standard_names(Sort sort) { return names(*standard(), sort); }
bool Definitions::standard_has(Sort sort, std::string_view name) { return own_of(*standard(), sort, name); }

ModuleScope* Definitions::load_library(std::string name, FileId file) {
  scopes_.push_back(std::make_unique<ModuleScope>());
  ModuleScope& scope = *scopes_.back();
  scope.name = name;
  scope.file = file;
  scope.library = true;
  by_path_.emplace_back(name, &scope);
  for (auto& item : outline(sources_, file).items) {
    if (auto sort = sort_of_keyword(item.keyword)) add(scope, {*sort, item.name, &scope, item.span, item.span});
    if (item.keyword == "rewrite") scope.unparsed_rewrites.push_back(item.span);
  }
  return &scope;
}

std::vector<Definitions::Rewrite> Definitions::all_rewrites(ModuleScope& scope) {
  std::vector<ModuleScope*> scopes{&scope};
  scopes.insert(scopes.end(), scope.uses.begin(), scope.uses.end());
  std::vector<Rewrite> all;
  for (ModuleScope* from : scopes) {
    for (Span part : std::exchange(from->unparsed_rewrites, {})) {
      auto module = std::make_unique<ast::Module>();
      module->file = part.file;
      if (!parse_part(sources_, part, {}, *module, diagnostics_)) throw Abandoned{};
      for (const ast::Declaration& declaration : module->declarations)
        from->rewrites.emplace_back(module.get(), &declaration);
      modules_.push_back(std::move(module));
    }
    for (const auto& [module, declaration] : from->rewrites)
      all.push_back({module, from, &std::get<ast::RewriteDecl>(declaration->node)});
  }
  return all;
}

const Definition* Definitions::parsed(Definition& definition) {
  if (definition.declaration) return &definition;
  auto module = std::make_unique<ast::Module>();
  module->file = definition.part.file;
  if (!parse_part(sources_, definition.part, {}, *module, diagnostics_) || module->declarations.empty())
    throw Abandoned{};
  definition.module = module.get();
  definition.declaration = &module->declarations.front();
  modules_.push_back(std::move(module));
  if (auto* op = definition.as<ast::OpDecl>()) definition.name_span = op->name.span;
  if (auto* outside = definition.as<ast::ExternDecl>()) definition.name_span = outside->name.span;
  if (auto* monoid = definition.as<ast::MonoidDecl>()) definition.name_span = monoid->name.span;
  return &definition;
}

Definition* Definitions::own_of(const ModuleScope& scope, Sort sort, std::string_view name) const {
  const auto& table = scope.own[static_cast<std::size_t>(sort)];
  auto found = table.find(std::string(name));
  return found == table.end() ? nullptr : found->second;
}

const Definition* Definitions::find(const ModuleScope& scope, Sort sort, const ast::Name& name) {
  if (Definition* own = own_of(scope, sort, name.text)) return parsed(*own);
  Definition* found = nullptr;
  for (const ModuleScope* used : scope.uses) {
    Definition* definition = own_of(*used, sort, name.text);
    if (!definition || definition == found) continue;
    if (found) {
      auto qualified = [&](const Definition& d) { return "`" + d.scope->name + "." + name.text + "`"; };
      diagnostics_.report(Diagnostic(Code::duplicate_name, name.span,
                                     "`" + name.text + "` is ambiguous: two used modules declare " +
                                         std::string(noun_with_article(sort)) + " of that name")
                              .label(found->name_span, "in one")
                              .label(definition->name_span, "in another")
                              .help("write " + qualified(*found) + " or " + qualified(*definition)));
      throw Abandoned{};
    }
    found = definition;
  }
  return found ? parsed(*found) : nullptr;
}

const Definition* Definitions::find_qualified(const ModuleScope& scope, Sort sort, std::string_view module,
                                              std::string_view name) {
  for (const ModuleScope* used : scope.uses)
    if (used->name == module)
      if (Definition* definition = own_of(*used, sort, name)) return parsed(*definition);
  if (scope.name == module)
    if (Definition* own = own_of(scope, sort, name)) return parsed(*own);
  return nullptr;
}

bool Definitions::is_library(FileId file) const {
  return std::any_of(scopes_.begin(), scopes_.end(),
                     [&](const auto& scope) { return scope->library && scope->file == file; });
}

std::vector<std::string> Definitions::names(const ModuleScope& scope, Sort sort) const {
  std::vector<std::string> all;
  auto collect = [&](const ModuleScope& from) {
    for (const auto& [name, definition] : from.own[static_cast<std::size_t>(sort)]) all.push_back(name);
  };
  collect(scope);
  for (const ModuleScope* used : scope.uses) collect(*used);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace tap
