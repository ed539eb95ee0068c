#include "compiler/driver/machine_file.h"

#ifdef TAP_HAVE_BACKEND
#include <fmt/format.h>
#include <toml++/toml.h>
#include <CLI/CLI.hpp>

#include <array>
#include <charconv>

#include "backend/llvm/library.h"
#include "backend/machine_of.h"
#include "compiler/driver/read_source.h"
#include "compiler/driver/show/line_span.h"
#include "runtime/failure.h"
#include "support/exit_code.h"

namespace tap::driver {
namespace {

struct Key {
  std::string_view table, name;
  std::int64_t ir::Machine::*field;
  std::int64_t least, most;
};
constexpr std::int64_t kib = 1 << 10, gib = 1 << 30;
constexpr std::array<Key, 5> keys = {{
    {"registers", "bytes", &ir::Machine::vector_bytes, 16, 256},
    {"registers", "count", &ir::Machine::vector_registers, 8, 64},
    {"caches", "l1", &ir::Machine::l1_bytes, 4 * kib, gib},
    {"caches", "l2", &ir::Machine::l2_bytes, 4 * kib, gib},
    {"caches", "l3", &ir::Machine::l3_bytes, 4 * kib, gib},
}};

// 49152, "48 KiB", "2M"
std::optional<std::int64_t> size_in(std::string_view text) {
  std::int64_t number = 0;
  auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0 || number > gib) return {};
  std::string_view unit(stop, static_cast<std::size_t>(text.data() + text.size() - stop));
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  if (unit == "KiB" || unit == "K") return number << 10;
  if (unit == "MiB" || unit == "M") return number << 20;
  if (unit == "GiB" || unit == "G") return number << 30;
  return unit.empty() || unit == "B" ? std::optional(number) : std::nullopt;
}

std::string shown(std::int64_t bytes) {
  return bytes >= gib ? fmt::format("{} GiB", bytes / gib) : fmt::format("{} KiB", bytes / kib);
}

class MachineFile {
 public:
  MachineFile(const Session& session, FileId file) : source_(session.sources.file(file)), file_(file) {}

  ir::Machine read(ir::Machine machine) {
    machine_ = machine;
    try {
      toml::table tables = toml::parse(std::string_view(source_.text()));
      for (auto&& [name, node] : tables) read_table(name, node);
    } catch (const toml::parse_error& error) {
      throw wrong(error.source().begin, fmt::format("invalid TOML: {}", error.description()),
                  "write a table name in brackets, then lines such as `l2 = \"2 MiB\"`");
    }
    return machine_;
  }

 private:
  Failure wrong(const toml::source_position& at, const std::string& what, std::string help) const {
    ir::TextError place{at.line, "", at.column > 0 ? at.column - 1 : 0};
    return {exit_code::wrong_data,
            Diagnostic(Code::data_malformed, place_span(source_, file_, place), what).help(std::move(help))};
  }

  Failure unknown(const toml::key& key, const char* kind, const std::vector<std::string>& known) const {
    auto near = did_you_mean(std::string(key.str()), known);
    return wrong(
        key.source().begin, fmt::format("a machine file has no {} {}", kind, tap::quoted(key.str())),
        near ? "did you mean `" + *near + "`?" : fmt::format("expected one of `{}`", fmt::join(known, "`, `")));
  }

  void read_table(const toml::key& name, const toml::node& node) {
    std::vector<std::string> known;
    for (const Key& key : keys)
      if (known.empty() || known.back() != key.table) known.emplace_back(key.table);
    if (std::find(known.begin(), known.end(), name.str()) == known.end()) throw unknown(name, "table", known);
    const toml::table* table = node.as_table();
    if (!table)
      throw wrong(name.source().begin, fmt::format("`{}` is a table, not a value", name.str()),
                  fmt::format("write [{}] and its keys below", name.str()));
    for (auto&& [key, value] : *table) read_key(name.str(), key, value);
  }

  void read_key(std::string_view table, const toml::key& name, const toml::node& node) {
    std::vector<std::string> known;
    for (const Key& key : keys) {
      if (key.table != table) continue;
      known.emplace_back(key.name);
      if (key.name == name.str()) return set(key, node);
    }
    throw unknown(name, fmt::format("key in [{}] called", table).c_str(), known);
  }

  void set(const Key& key, const toml::node& node) {
    bool size = key.table == "caches";
    std::optional<std::int64_t> number = node.value_exact<std::int64_t>();
    if (auto text = node.value_exact<std::string_view>(); text && size) number = size_in(*text);
    const char* form = size ? "write a number of bytes, or a string such as \"48 KiB\" or \"2 MiB\""
                            : "write an integer: 16";
    const auto& at = node.source().begin;
    if (!number) throw wrong(at, fmt::format("`{}` is {}", key.name, size ? "not a size" : "not an integer"), form);
    if (*number < key.least || *number > key.most)
      throw wrong(at,
                  size ? fmt::format("`{}` is {} bytes; expected {} to {}", key.name, *number, shown(key.least),
                                     shown(key.most))
                       : fmt::format("`{}` is {}; expected {} to {}", key.name, *number, key.least, key.most),
                  form);
    if (key.name == "bytes" && (*number & (*number - 1)) != 0)
      throw wrong(at, fmt::format("`bytes` is {}; the size of a register must be a power of two", *number),
                  "16, 32 or 64");
    machine_.*key.field = *number;
  }

  const SourceFile& source_;
  FileId file_;
  ir::Machine machine_;
};

}  // namespace

void add_machine_option(CLI::App& app, std::string& path) {
  app.add_option("--machine", path,
                 "A TOML file with the sizes of registers and caches, instead of the target's known sizes");
}

ir::Machine machine_for(Session& session, const backend::Target& target, const std::string& path) {
  ir::Machine machine = backend::machine_of(target);
  if (path.empty()) return machine;
  FileId file = read_source(session, path);
  return MachineFile(session, file).read(machine);
}

}  // namespace tap::driver
#endif
