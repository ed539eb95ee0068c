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

// Numbers that locate it: a step, a graph of the program that the step made, an operation of that graph.
struct At {
  std::optional<std::size_t> step = {}, graph = {}, operation = {};
};

struct Finding {
  Obligation obligation;
  Standing standing = Standing::proved;
  std::string where;   // step 2 (compose_maps), graph 0, operation 3
  std::string detail;  // of an assumption: what is assumed; of a refusal: what is wrong, with numbers
  At at = {};          // of a claim about one operation and of a refusal; else at most the step
};

// Thrown if something is not justified; the caller adds the location.
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
  At at = {};  // what is being checked
  bool refused() const { return count(Standing::refused) > 0; }
  std::size_t count(Standing standing) const {
    return static_cast<std::size_t>(std::ranges::count(findings, standing, &Finding::standing));
  }

  // Runs `run`: if it throws no Refusal, the obligation, if any, is proved; else the refusal is recorded. Returns which.
  template <class Run>
  bool attempt(std::optional<Obligation> obligation, const std::string& where, Run run) {
    try {
      run();
      if (obligation) findings.push_back({*obligation, Standing::proved, where, "", {at.step}});
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
