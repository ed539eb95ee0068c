// tapc-check [--rules=RULES.ir] SOURCE.ir CERTIFICATE STAGE.ir…: whether the stages, in order, compute what the source computes.
//
//   build/bin/tapc-check mlp.ir mlp.cert out/01-inline_calls.ir out/02-simplify_cells.ir
//
// Exit 0: proved, save for what is listed as assumed. 5: refused. 3: a file that is no program or no certificate. 2, 4: as ever.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>

#include "check/check.h"
#include "ir/certificate_text.h"
#include "ir/program_hash.h"
#include "ir/stage_text.h"
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

}  // namespace

int main(int argc, char** argv) {
  // Believed as the source is: what the source's rewrite rules are at the sizes at hand.
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
  std::deque<ir::Stage> read;
  std::vector<check::Stage> stages;
  for (std::size_t k = 0; k < paths.size(); ++k) {
    if (k == 1) continue;
    std::string text = text_of(paths[k]);
    const ir::Stage& stage = read.emplace_back(parsed(paths[k], ir::parse_stage(text)));
    std::visit([&](const auto& what) { stages.push_back({&what, ir::hash_of_text(text)}); }, stage);
  }
  check::Verdict verdict = check::check(certificate, stages, rules ? &*rules : nullptr);
  std::map<std::string_view, std::size_t> proved;
  for (const auto& [obligation, standing, where, detail] : verdict.findings) {
    const char* said = standing == check::Standing::refused ? "refused" : "assumed";
    if (standing == check::Standing::proved) ++proved[check::name_of(obligation)];
    else std::fputs(fmt::format("{} {}: {}: {}\n", said, check::name_of(obligation), where, detail).c_str(), stdout);
  }
  for (auto [name, count] : proved) std::fputs(fmt::format("proved {}: {}\n", name, count).c_str(), stdout);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) fail(exit_code::resource, "stdout cannot be written");
  return verdict.refused() ? exit_code::check_failed : exit_code::done;
}
