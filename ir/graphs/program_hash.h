// Identifies a program in a certificate: a hash of its text form, 32 hexadecimal digits (XXH3, 128 bits).
#pragma once

#include <string>
#include <string_view>

#include "ir/graph_ids.h"
#include "ir/operator.h"

namespace tap::ir {

std::string hash_of_text(std::string_view text);
std::string hash_of(const Program& program);  // of what print() writes
// Of its first digits, for a comparison of few programs. A multiple of 4, not negative.
std::int64_t short_hash(const std::string& hash);

}  // namespace tap::ir
