// The names in a size: `2*n + max(m, 3)` uses the dims n and m, `size(p)` and `broadcast(p, q)..` use packs of dims.
#pragma once

#include <functional>
#include <string>

#include "compiler/frontend/syntax/ast.h"

namespace tap {

enum class SizeName : std::uint8_t { dim, pack };
// Calls the function for every occurrence, in source order. Also for parameters, which look like dims.
void for_size_names(const ast::Module& module, ast::ExprId size,
                    const std::function<void(const std::string& name, SizeName kind)>& found);

}  // namespace tap
