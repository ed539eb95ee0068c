// A monoid as `tapc ops argmax` shows it: its components, identity and combination as in the source, and the status
// of its laws.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/law_memory.h"
#include "compiler/driver/session.h"
#include "compiler/frontend/syntax/ast.h"

namespace tap::driver {

std::vector<const ast::MonoidDecl*> monoids_of(const ast::Module& module);

// `file` declares the monoid; `library`: it is the standard library. Laws that `laws` knows are not checked again.
std::string describe_monoid(Session& session, const ast::Module& module, const ast::MonoidDecl& monoid, FileId file,
                            bool library, LawMemory& laws);

}  // namespace tap::driver
