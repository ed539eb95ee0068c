// Outside kernels: an index space and a region per access; the body is a C function.
#pragma once

#include <vector>

namespace tap {

struct Definition;
struct Elaboration;
struct Env;
struct Instance;
struct TypedArgument;

// Pre: `callee` has the signature bound.
Instance build_extern(Elaboration& elaboration, const Definition& definition, const Env& callee,
                      const std::vector<TypedArgument>& given);

}  // namespace tap
