// The names in a size: `2*n + max(m, 3)` uses the dims n and m, `size(p)` and `broadcast(p, q)..` use packs of dims.
#pragma once

#include <functional>
#include <string>

#include "compiler/frontend/syntax/ast.h"

namespace tap {

enum class SizeName : std::uint8_t { dim, pack };
// In the order in which they are written, each as often as it is. A parameter's name looks like a dim's.
void for_size_names(const ast::Module& module, ast::ExprId size,
                    const std::function<void(const std::string& name, SizeName kind)>& found);

}  // namespace tap
