// The syntax tree of a .tap file: plain values, exactly as written, with nothing resolved. The expressions of a
// module are in one arena and are referred to by ExprId, so a tree of 100,000 statements is a few flat vectors.
//
//   op relu(x: T[d..]) -> (y: T[d..]) where T: number { y[i..] = max(x[i..], 0) }
#pragma once

#include "compiler/frontend/syntax/ast_declarations.h"

namespace tap::ast {

struct Module {
  FileId file;
  std::optional<std::int64_t> version;    // tap 1
  std::vector<Declaration> declarations;  // in source order
  std::vector<Expr> exprs;

  const Expr& operator[](ExprId id) const { return exprs[id.index()]; }
  ExprId add(Expr e) {
    exprs.push_back(std::move(e));
    return ExprId(exprs.size() - 1);
  }
};

}  // namespace tap::ast
