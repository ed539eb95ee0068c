// tapc-check [--rules=RULES.ir] SOURCE.ir CERTIFICATE STAGE.ir…: checks that the stages, in order, compute the same as
// the source.
//
//   build/bin/tapc-check mlp.ir mlp.cert out/01-inline_calls.ir out/02-simplify_cells.ir
//
// Exit 0: proved, except for what is listed as assumed or trusted. 5: refused. 3: a file that is not a program or a
// certificate. 2, 4: as in tapc.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>

#include "check/check.h"
#include "ir/graph.h"
#include "ir/graphs/program_hash.h"
#include "ir/text/certificate_text.h"
#include "ir/text/stage_text.h"
#include "support/exit_code.h"
#include "support/plain_arguments.h"
#include "support/read_file.h"

namespace {

using namespace tap;

[[noreturn]] void fail(int code, const std::string& why) {
  fmt::print(stderr, "error: {}\n", why);
  std::exit(code);
}

std::string text_of(const std::string& path) {
  auto read = read_regular_file(path, std::uint64_t{1} << 32);
  if (auto* text = std::get_if<std::string>(&read)) return std::move(*text);
  fail(exit_code::resource, fmt::format("{}: cannot be read", path));
}
template <class T>
T parsed(const std::string& path, std::variant<T, ir::TextError> result) {
  if (auto* e = std::get_if<ir::TextError>(&result))
    fail(exit_code::wrong_data, fmt::format("{}:{}: {}", path, e->line, e->message));
  return std::get<T>(std::move(result));
}

// A single cell operation with its identity, known to be associative and commutative.
bool is_one_operation(const ir::Monoid& monoid) {
  if (monoid.arity() != 1 || monoid.fold) return false;
  const ir::CellNode &root = monoid.exprs[monoid.combine[0]], &neutral = monoid.exprs[monoid.identity[0]];
  const ElementType type = root.type;
  const std::pair<ir::CellOp, ir::Scalar> known[] = {{ir::CellOp::add, ir::Scalar::zero(type)},
                                                     {ir::CellOp::mul, ir::Scalar::one(type)},
                                                     {ir::CellOp::max, ir::Scalar::least(type)},
                                                     {ir::CellOp::min, ir::Scalar::greatest(type)},
                                                     {ir::CellOp::logical_and, ir::Scalar::boolean(true)},
                                                     {ir::CellOp::logical_or, ir::Scalar::boolean(false)}};
  auto is_argument = [&](std::size_t k) {
    return monoid.exprs[root.args[k]] ==
           ir::CellNode{ir::CellOp::argument, type, static_cast<std::uint32_t>(k), {}, {}};
  };
  return std::find(std::begin(known), std::end(known), std::pair(root.op, neutral.value)) != std::end(known) &&
         is_argument(0) && is_argument(1);
}

// The laws of monoids were checked when the source was compiled, not here.
void list_trusted_laws(const ir::Program& source) {
  for (const ir::Monoid& monoid : source.monoids) {
    std::string laws;
    for (auto [law, name] : {std::pair(monoid.laws.associative, "associative"),
                             {monoid.laws.identity, "identity"},
                             {monoid.laws.commutative, "commutative"},
                             {monoid.laws.fold, "fold"}})
      if (law == ir::Law::proved) laws += (laws.empty() ? "" : ", ") + std::string(name);
    if (!laws.empty() && !is_one_operation(monoid))
      fmt::print("trusted laws: the monoid `{}`: {}; the source claims that they are proved\n", monoid.name, laws);
  }
}

}  // namespace

int main(int argc, char** argv) {
  // Trusted like the source: the source's rewrite rules at the concrete sizes.
  std::optional<ir::Program> rules;
  constexpr std::string_view option = "--rules=";
  if (argc > 1 && std::string_view(argv[1]).starts_with(option)) {
    const std::string path = argv[1] + option.size();
    rules = parsed(path, ir::parse_program(text_of(path)));
    std::rotate(argv + 1, argv + 2, argv + argc--);
  }
  const auto paths =
      plain_arguments(argc, argv, 2, "tapc-check [--rules=RULES.ir] SOURCE.ir CERTIFICATE STAGE.ir...", TAP_VERSION);
  ir::Certificate certificate = parsed(paths[1], ir::parse_certificate(text_of(paths[1])));
  std::deque<ir::StageValue> read;
  std::vector<check::HashedStage> stages;
  for (std::size_t k = 0; k < paths.size(); ++k) {
    if (k == 1) continue;
    std::string text = text_of(paths[k]);
    const ir::StageValue& stage = read.emplace_back(parsed(paths[k], ir::parse_stage(text)));
    std::visit([&](const auto& what) { stages.push_back({&what, ir::hash_of_text(text)}); }, stage);
  }
  check::Verdict verdict = check::check(certificate, stages, rules ? &*rules : nullptr);
  if (auto* source = std::get_if<ir::Program>(&read.front()); source && !verdict.refused()) list_trusted_laws(*source);
  std::map<std::string_view, std::size_t> proved;
  for (const auto& [obligation, standing, where, detail, at] : verdict.findings) {
    const char* label = standing == check::Standing::refused ? "refused" : "assumed";
    if (standing == check::Standing::proved) ++proved[check::name_of(obligation)];
    else std::fputs(fmt::format("{} {}: {}: {}\n", label, check::name_of(obligation), where, detail).c_str(), stdout);
  }
  for (auto [name, count] : proved) std::fputs(fmt::format("proved {}: {}\n", name, count).c_str(), stdout);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) fail(exit_code::resource, "stdout cannot be written");
  return verdict.refused() ? exit_code::check_failed : exit_code::done;
}
