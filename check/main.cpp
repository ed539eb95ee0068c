// tapc-check SOURCE.ir CERTIFICATE STAGE.ir…: whether the stages, in order, compute what the source computes.
//
//   build/bin/tapc-check mlp.ir mlp.cert out/01-inline_calls.ir out/02-simplify_cells.ir
//
// Exit 0: proved, save for what is listed as assumed. 5: refused. 3: a file that is no program or no certificate. 2, 4: as ever.
#include <fmt/format.h>

#include <cstdlib>
#include <deque>
#include <fstream>
#include <iterator>
#include <map>

#include "check/check.h"
#include "ir/certificate_text.h"
#include "ir/program_hash.h"
#include "support/exit_code.h"

namespace {

using namespace tap;

[[noreturn]] void fail(int code, const std::string& why) {
  fmt::print(stderr, "error: {}\n", why);
  std::exit(code);
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) fail(exit_code::resource, fmt::format("{}: cannot be read", path));
  return text;
}
template <class T>
T parsed(const std::string& path, std::variant<T, ir::TextError> result) {
  if (auto* e = std::get_if<ir::TextError>(&result))
    fail(exit_code::wrong_data, fmt::format("{}:{}: {}", path, e->line, e->message));
  return std::get<T>(std::move(result));
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> paths(argv + 1, argv + argc);
  if (argc < 3) fail(exit_code::wrong_command_line, "usage: tapc-check SOURCE.ir CERTIFICATE STAGE.ir...");
  ir::Certificate certificate = parsed(paths[1], ir::parse_certificate(text_of(paths[1])));
  std::deque<ir::Program> programs;
  std::vector<check::Stage> stages;
  for (std::size_t k = 0; k < paths.size(); ++k) {
    if (k == 1) continue;
    std::string text = text_of(paths[k]);
    stages.push_back({&programs.emplace_back(parsed(paths[k], ir::parse_program(text))), ir::hash_of_text(text)});
  }
  check::Verdict verdict = check::check(certificate, stages);
  std::map<std::string_view, std::size_t> proved;
  for (const auto& [obligation, standing, where, detail] : verdict.findings) {
    const char* said = standing == check::Standing::refused ? "refused" : "assumed";
    if (standing == check::Standing::proved) ++proved[check::name_of(obligation)];
    else fmt::print("{} {}: {}: {}\n", said, check::name_of(obligation), where, detail);
  }
  for (auto [name, count] : proved) fmt::print("proved {}: {}\n", name, count);
  return verdict.refused() ? exit_code::check_failed : exit_code::done;
}
