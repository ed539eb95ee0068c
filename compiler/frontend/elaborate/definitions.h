// Definitions: the declarations of a file and the modules that it uses, by name. A library is scanned once for its
// outline, and a declaration is parsed when it is first looked up, so that the cost of `use std` depends on what is
// used.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/frontend/syntax/ast.h"
#include "compiler/frontend/syntax/parse.h"
#include "support/diagnostic.h"

namespace tap {

// Names of different sorts do not collide: a monoid `argmax` precedes `[`, an operator `argmax` precedes `(`.
enum class Sort : std::uint8_t { op, monoid, dim, mesh, program };
inline constexpr std::size_t sort_count = 5;

struct ModuleScope;

struct Definition {
  Sort sort = Sort::op;
  std::string name;
  const ModuleScope* scope = nullptr;
  Span name_span;
  Span part;                            // of a library's declaration that is not yet parsed
  const ast::Module* module = nullptr;  // null until parsed; owns the expressions
  const ast::Declaration* declaration = nullptr;

  template <class T>
  const T* as() const {
    return declaration ? std::get_if<T>(&declaration->node) : nullptr;
  }
};

struct ModuleScope {
  std::string name;  // the qualifier of its names: std
  FileId file;
  bool library = false;
  std::unordered_map<std::string, Definition*> own[sort_count];
  std::vector<ModuleScope*> uses;
  std::vector<Definition*> in_order;  // source order
  std::vector<std::pair<const ast::Module*, const ast::Declaration*>> rewrites;
  std::vector<Span> unparsed_rewrites;  // of a library; parsed on request
};

class Definitions {
 public:
  Definitions(SourceMap& sources, Diagnostics& diagnostics, std::string_view standard_library);
  ~Definitions();

  // Parses a file and whatever it uses. Null if it could not be parsed at all.
  ModuleScope* load(FileId file);

  // The rewrites of the scope and then those of the modules that it uses, each with its own scope.
  struct Rewrite {
    const ast::Module* module;
    const ModuleScope* scope;
    const ast::RewriteDecl* rule;
  };
  std::vector<Rewrite> all_rewrites(ModuleScope& scope);

  // The definition of `name` in `scope`: its own, else a used module's; parsed. Null: none (nothing reported).
  // Throws Abandoned if it exists but does not parse, or, after a diagnostic at `name`, if two used modules have it.
  const Definition* find(const ModuleScope& scope, Sort sort, const ast::Name& name);
  const Definition* find_qualified(const ModuleScope& scope, Sort sort, std::string_view module, std::string_view name);
  bool is_library(FileId file) const;
  std::vector<std::string> standard_names(Sort sort);                         // sorted
  bool standard_has(Sort sort, std::string_view name);                        // whether or not the file says `use std`
  std::vector<std::string> names(const ModuleScope& scope, Sort sort) const;  // sorted, for did-you-mean

 private:
  ModuleScope* standard();
  ModuleScope* load_used(const ast::UseDecl& use, const ModuleScope& from);
  ModuleScope* load_library(std::string name, FileId file);
  void declare(ModuleScope& scope, const ast::Module& module, const ast::Declaration& declaration);
  void add(ModuleScope& scope, Definition definition);
  const Definition* parsed(Definition& definition);
  Definition* own_of(const ModuleScope& scope, Sort sort, std::string_view name) const;

  SourceMap& sources_;
  Diagnostics& diagnostics_;
  std::string_view standard_library_;
  std::vector<std::unique_ptr<ModuleScope>> scopes_;
  std::vector<std::unique_ptr<ast::Module>> modules_;
  std::vector<std::unique_ptr<Definition>> definitions_;
  std::vector<std::pair<std::string, ModuleScope*>> by_path_;  // loaded files; null while loading
};

}  // namespace tap
