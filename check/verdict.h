// The checker's verdict: whether each obligation of each step is proved, assumed or refused.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/checked.h"

namespace tap::check {

enum class Obligation {
#define TAP_OBLIGATION(name, text, meaning) name,
#include "check/obligations.def"
#undef TAP_OBLIGATION
};
std::string_view name_of(Obligation obligation);
std::string_view meaning_of(Obligation obligation);

enum class Standing { proved, assumed, refused };

// By number, for who shows where it was written: a step, a graph of the program that it made, an operation of that graph.
struct At {
  std::optional<std::size_t> step = {}, graph = {}, operation = {};
};

struct Finding {
  Obligation obligation;
  Standing standing = Standing::proved;
  std::string where;   // step 2 (compose_maps), graph 0, operation 3
  std::string detail;  // of an assumption what is assumed, of a refusal what is wrong, with numbers
  At at = {};          // of a refusal
};

// Thrown where something is not justified; the place is added by who looks at it.
struct Refusal {
  Obligation obligation;
  std::string detail;
};
template <class... Args>
void expect(Obligation obligation, bool holds, fmt::format_string<Args...> format, Args&&... args) {
  if (!holds) throw Refusal{obligation, fmt::format(format, std::forward<Args>(args)...)};
}

struct Verdict {
  std::vector<Finding> findings;
  At at = {};  // what is looked at
  bool refused() const { return count(Standing::refused) > 0; }
  std::size_t count(Standing standing) const {
    return static_cast<std::size_t>(std::ranges::count(findings, standing, &Finding::standing));
  }

  // Whether `run` refuses nothing: then the obligation is proved there, if there is one; else what it refuses is found.
  template <class Run>
  bool attempt(std::optional<Obligation> obligation, const std::string& where, Run run) {
    try {
      run();
      if (obligation) findings.push_back({*obligation, Standing::proved, where, ""});
      return true;
    } catch (const Refusal& refusal) {
      findings.push_back({refusal.obligation, Standing::refused, where, refusal.detail, at});
    } catch (const Overflow&) {
      findings.push_back(
          {Obligation::well_formed, Standing::refused, where, "a coordinate does not fit in 64 bits", at});
    }
    return false;
  }
};

}  // namespace tap::check
