#include "compiler/driver/machines/machine_reader.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "compiler/driver/machines/chosen_processors.h"
#include "compiler/driver/machines/keys.h"
#include "compiler/pipeline/line_span.h"
#include "cost/model/formula.h"
#include "cost/model/term_names.h"
#include "runtime/failure.h"
#include "support/exit_code.h"

namespace tap::driver {
namespace {

using cost::Cluster, cost::Device, cost::Link;

constexpr std::int64_t most_devices = 1 << 20;

class MachineReader {
 public:
  MachineReader(const Session& session, FileId file, const Device& known)
      : source_(session.sources.file(file)), file_(file), known_(known) {}

  Cluster read() {
    require_table_names();
    try {
      toml::table tables = toml::parse(std::string_view(source_.text()));
      read(tables);
    } catch (const toml::parse_error& error) {
      throw wrong(error.source().begin, fmt::format("invalid TOML: {}", error.description()), how_to_write);
    }
    return std::move(cluster_);
  }

 private:
  using Names = std::vector<std::string>;
  static constexpr const char* how_to_write = "write a table name in brackets, then lines such as `l2 = \"2 MiB\"`";

  // toml++ relies on the first character of a table's name: at one that begins no name it ends the process.
  void require_table_names() const {
    constexpr std::string_view blanks = " \t", others = "_-\"']";  // it refuses an empty name itself
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    toml::source_index number = 0;
    std::string_view rest = source_.text();
    if (rest.starts_with(byte_order_mark)) rest.remove_prefix(byte_order_mark.size());
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      ++number;
      const std::size_t bracket = std::min(line.find_first_not_of(blanks), line.size());
      if (!line.substr(bracket).starts_with('[')) continue;
      const std::size_t brackets = line.substr(bracket).starts_with("[[") ? 2 : 1;
      const std::size_t name = std::min(line.find_first_not_of(blanks, bracket + brackets), line.size());
      if (name < line.size() &&
          (std::isalnum(static_cast<unsigned char>(line[name])) != 0 || others.find(line[name]) != others.npos))
        continue;
      throw wrong({number, static_cast<toml::source_index>(name + 1)}, "invalid TOML: a table has no name",
                  how_to_write);
    }
  }

  Failure wrong(const toml::source_position& at, const std::string& what, std::string help) const {
    ir::TextError location{at.line, "", at.column > 0 ? at.column - 1 : 0};
    return {
        exit_code::wrong_data,
        Diagnostic(Code::data_malformed, pipeline::error_span(source_, file_, location), what).help(std::move(help))};
  }
  Failure unknown(const toml::key& key, const std::string& kind, const Names& known) const {
    auto near = did_you_mean(std::string(key.str()), known);
    return wrong(
        key.source().begin, fmt::format("unknown {}: {}", kind, tap::quoted(key.str())),
        near ? "did you mean `" + *near + "`?" : fmt::format("expected one of `{}`", fmt::join(known, "`, `")));
  }
  const toml::table& table_of(const toml::key& name, const toml::node& node) const {
    if (const toml::table* table = node.as_table()) return *table;
    throw wrong(name.source().begin, fmt::format("`{}` is a table, not a value", name.str()),
                fmt::format("write [{}] and its keys below", name.str()));
  }

  void read(const toml::table& file) {
    Names known = device_tables();
    for (const char* name : {"rates", "prices", "devices", "links", "pairs", "terms", "cpus"}) known.emplace_back(name);
    const bool several = file.contains("devices");
    Device device = known_;
    for (auto&& [name, node] : file) {
      if (name == "devices") read_list(name, node, [&](const toml::table& one) { read_device(one); });
      else if (name == "links") read_list(name, node, [&](const toml::table& one) { read_link(one); });
      else if (name == "pairs") read_list(name, node, [&](const toml::table& one) { read_pair(one); });
      else if (name == "cpus") cluster_.cpus = processors(node);
      else if (name == "terms") terms_.emplace(&table_of(name, node));
      else if (!is_of_device(name.str())) throw unknown(name, node.is_table() ? "table" : "key", known_names(known));
      else if (several)
        throw wrong(name.source().begin,
                    fmt::format("`{}` cannot be combined with [[devices]], which lists the device types", name.str()),
                    "move it into an entry of [[devices]]");
      else read_of_device(device, "", name, node);
    }
    if (!several) {
      complete_levels(device, file);
      cluster_.types.push_back(std::move(device));
    }
    check_pairs(file);
    if (cluster_.links.empty()) cluster_.links = cost::builtin_cluster(known_).links;
    if (terms_) read_terms(**terms_);
  }

  static Names device_tables() {
    Names names;
    for (const DeviceKey& key : device_keys())
      if (!key.table.empty() && (names.empty() || names.back() != key.table)) names.emplace_back(key.table);
    return names;
  }
  static Names keys_in(std::string_view table) {
    Names names;
    for (const DeviceKey& key : device_keys())
      if (key.table == table) names.emplace_back(key.name);
    return names;
  }
  static Names known_names(Names tables) {
    for (std::string& name : keys_in("")) tables.push_back(std::move(name));
    return tables;
  }
  static bool is_of_device(std::string_view name) {
    if (name == "rates" || name == "prices") return true;
    return std::ranges::any_of(device_keys(), [&](const DeviceKey& key) {
      return key.table == name || (key.table.empty() && key.name == name);
    });
  }

  template <class Read>
  void read_list(const toml::key& name, const toml::node& node, const Read& read) {
    const toml::array* list = node.as_array();
    if (!list || !std::all_of(list->begin(), list->end(), [](const toml::node& n) { return n.is_table(); }))
      throw wrong(name.source().begin, fmt::format("`{}` is a list of tables", name.str()),
                  fmt::format("write [[{}]] above the keys of each", name.str()));
    for (const toml::node& one : *list) read(*one.as_table());
  }

  double number(const toml::key& name, const toml::node& node, Unit unit, double least, double most) const {
    std::optional<double> value;
    const bool whole = unit == Unit::count || unit == Unit::size;
    if (auto integer = node.value_exact<std::int64_t>()) value = static_cast<double>(*integer);
    else if (auto real = node.value_exact<double>(); real && !whole && std::isfinite(*real)) value = *real;
    else if (auto text = node.value_exact<std::string_view>(); text && unit != Unit::count)
      value = read_quantity(*text, unit);
    const auto& at = node.source().begin;
    if (!value)
      throw wrong(at, fmt::format("`{}` is not {}", name.str(), info(unit).what), std::string(info(unit).form));
    if (*value < least || *value > most)
      throw wrong(at,
                  fmt::format("`{}` is {}{}; expected {} to {}", name.str(), *value, unit == Unit::size ? " bytes" : "",
                              shown(least, unit), shown(most, unit)),
                  std::string(info(unit).form));
    return *value;
  }
  std::string text(const toml::key& name, const toml::node& node) const {
    auto text = node.value_exact<std::string>();
    if (!text || text->empty() || text->size() > 100)
      throw wrong(node.source().begin, fmt::format("`{}` is not a name", name.str()), "write one in quotes: \"rack\"");
    return *text;
  }
  std::string processors(const toml::node& node) const {
    auto text = node.value_exact<std::string>();
    if (text && read_processor_list(*text)) return *text;
    throw wrong(node.source().begin, "`cpus` is not a list of processors",
                fmt::format("write {} in quotes", form_of_processor_list));
  }
  bool truth(const toml::key& name, const toml::node& node) const {
    if (auto value = node.value_exact<bool>()) return *value;
    throw wrong(node.source().begin, fmt::format("`{}` is not true or false", name.str()), "write true or false");
  }

  void read_device(const toml::table& table) {
    Device device = known_;
    std::int64_t count = 1;
    for (auto&& [name, node] : table)
      if (name == "name") device.name = text(name, node);
      else if (name == "count") count = static_cast<std::int64_t>(number(name, node, Unit::count, 1, most_devices));
      else read_of_device(device, "[[devices]]", name, node);
    complete_levels(device, table);
    for (const Device& other : cluster_.types)
      if (other.name == device.name)
        throw wrong(table.source().begin, fmt::format("two entries of [[devices]] are named `{}`", device.name),
                    "give each device type a unique name, such as name = \"gpu\"");
    cluster_.layout.emplace_back(cluster_.types.size(), count);
    cluster_.types.push_back(std::move(device));
  }

  void read_of_device(Device& device, std::string_view where, const toml::key& name, const toml::node& node) const {
    if (name == "rates") return read_rates(device, table_of(name, node));
    if (name == "prices") {
      for (auto&& [price, value] : table_of(name, node))
        device.prices.push_back({std::string(price.str()), number(price, value, Unit::number, 0, most_rate)});
      return;
    }
    for (const DeviceKey& key : device_keys())
      if (key.table.empty() && key.name == name.str()) return set(device, key, name, node);
    const Names tables = device_tables();
    if (std::ranges::find(tables, name.str()) == tables.end())
      throw unknown(name, fmt::format("key in {}", where), known_names(tables));
    for (auto&& [inner, value] : table_of(name, node)) {
      auto keys = device_keys();
      auto key = std::ranges::find_if(
          keys, [&, within = inner.str()](const DeviceKey& k) { return k.table == name.str() && k.name == within; });
      if (key == keys.end()) throw unknown(inner, fmt::format("key in [{}]", name.str()), keys_in(name.str()));
      set(device, *key, inner, value);
    }
  }
  void set(Device& device, const DeviceKey& key, const toml::key& name, const toml::node& node) const {
    const double value = number(name, node, key.unit, key.least, key.most);
    if (key.table == "registers" && key.name == "bytes" &&
        (static_cast<std::int64_t>(value) & (static_cast<std::int64_t>(value) - 1)) != 0)
      throw wrong(node.source().begin,
                  fmt::format("`bytes` is {}; the size of a register must be a power of two", value), "16, 32 or 64");
    key.set(device, value);
  }

  // Bandwidths of all threads follow from the number of threads and those of one, where the table gives one of these.
  static void complete_levels(Device& device, const toml::table& keys) {
    auto has = [&](const char* table, const std::string& level) {
      const toml::table* own = keys[table].as_table();
      return own && own->contains(level);
    };
    for (std::size_t k = 0; k < device.levels.size(); ++k) {
      cost::MemoryLevel& level = device.levels[k];
      auto complete = [&](const char* of_one, double rate, const char* of_all, double& all) {
        if (!has(of_all, level.name) && (keys.contains("threads") || has(of_one, level.name)))
          all = cost::typical_of_all(k, rate, device.threads);
      };
      complete("read", level.read, "read_all", level.read_shared);
      complete("write", level.write, "write_all", level.write_shared);
    }
  }

  // What a table does not tell apart from products is as fast as they are, and on the same units.
  static void complete(Device& device, ElementType type, const toml::table& keys) {
    auto has = [&](cost::Instruction kind) {
      return keys.contains(cost::instructions[static_cast<std::size_t>(kind)].name);
    };
    const bool has_products = has(cost::Instruction::arithmetic);
    for (const cost::Instruction kind : {cost::Instruction::add, cost::Instruction::minimum})
      if (has_products && !has(kind))
        device.rates.of(type, kind) = device.rates.of(type, cost::Instruction::arithmetic);
    if ((has_products || has(cost::Instruction::add)) && !keys.contains(mixed_key))
      device.mixed[static_cast<std::size_t>(type)] = cost::shared_rate(device, type);
  }

  // [rates.f32], with a key for each kind of instruction.
  void read_rates(Device& device, const toml::table& rates) const {
    for (auto&& [type, node] : rates) {
      const auto element = element_type_named(type.str());
      if (!element) {
        Names known;
        for (std::size_t t = 0; t < element_type_count; ++t) known.emplace_back(name_of(static_cast<ElementType>(t)));
        throw unknown(type, "element type in [rates]", known);
      }
      const toml::table& keys = table_of(type, node);
      for (auto&& [kind, value] : keys) {
        Names known;
        for (const cost::InstructionInfo& one : cost::instructions) known.emplace_back(one.name);
        known.emplace_back(mixed_key);
        auto found = std::ranges::find(known, kind.str());
        if (found == known.end()) throw unknown(kind, fmt::format("key in [rates.{}]", type.str()), known);
        const double rate = number(kind, value, Unit::rate, 1, most_rate);
        if (kind == mixed_key) device.mixed[static_cast<std::size_t>(*element)] = rate;
        else device.rates.of(*element, static_cast<cost::Instruction>(found - known.begin())) = rate;
      }
      complete(device, *element, keys);
    }
  }

  void read_link(const toml::table& table) {
    Link link;
    Names known = {"name", "shared", "ring"};
    for (const LinkKey& key : link_keys()) known.emplace_back(key.name);
    for (auto&& [name, node] : table) {
      auto keys = link_keys();
      auto key = std::ranges::find(keys, name.str(), &LinkKey::name);
      if (name == "name") link.name = text(name, node);
      else if (name == "shared") link.shared = truth(name, node);
      else if (name == "ring") link.ring = truth(name, node);
      else if (key == keys.end()) throw unknown(name, "key in [[links]]", known);
      else key->set(link, number(name, node, key->unit, key->least, key->most));
    }
    if (link.bandwidth <= 0)
      throw wrong(table.source().begin, "this link has no bandwidth", "add a line such as bandwidth = \"25 GB/s\"");
    cluster_.links.push_back(std::move(link));
    if (cluster_.count() > most_devices || cluster_.count() < 1)
      throw wrong(table.source().begin, fmt::format("the links join more than {} devices", most_devices),
                  "the number of devices is the product of the counts of all levels");
  }

  void read_pair(const toml::table& table) {
    cost::PairLink pair;
    const Names known = {"from", "to", "latency", "bandwidth"};
    for (auto&& [name, node] : table)
      if (name == "from") pair.from = static_cast<std::int64_t>(number(name, node, Unit::count, 0, most_devices - 1));
      else if (name == "to") pair.to = static_cast<std::int64_t>(number(name, node, Unit::count, 0, most_devices - 1));
      else if (name == "latency") pair.latency = number(name, node, Unit::time, 0, 3600);
      else if (name == "bandwidth") pair.bandwidth = number(name, node, Unit::bandwidth, 1, most_rate);
      else throw unknown(name, "key in [[pairs]]", known);
    if (pair.bandwidth <= 0 || pair.from == pair.to)
      throw wrong(table.source().begin,
                  pair.from == pair.to ? fmt::format("this pair joins device {} with itself", pair.from)
                                       : std::string("this pair has no bandwidth"),
                  "write from = 0, to = 1 and bandwidth = \"25 GB/s\"");
    cluster_.pairs.push_back(pair);
  }
  // Pairs must name existing devices; levels must cover the listed devices.
  void check_pairs(const toml::table& file) const {
    std::int64_t listed = 0;
    for (const auto& [type, many] : cluster_.layout) listed += many;
    const std::int64_t joined = cluster_.count();
    if (!cluster_.links.empty() && listed > 1 && listed != joined)
      throw wrong(file.get("links")->source().begin,
                  fmt::format("the links join {} devices, and [[devices]] lists {}", joined, listed),
                  "the product of the links' counts is the number of devices");
    for (const cost::PairLink& pair : cluster_.pairs)
      if (std::max(pair.from, pair.to) >= std::max(listed, joined))
        throw wrong(file.get("pairs")->source().begin,
                    fmt::format("a pair names device {}, but there are only {}", std::max(pair.from, pair.to),
                                std::max(listed, joined)),
                    "devices are numbered from 0");
  }

  // A term may use earlier ones only, so there are no cycles.
  void read_terms(const toml::table& terms) {
    std::vector<std::pair<const toml::key*, const toml::node*>> ordered;
    for (auto&& [name, node] : terms) ordered.emplace_back(&name, &node);
    std::ranges::sort(ordered, {}, [](const auto& one) {
      const auto& at = one.first->source().begin;
      return std::pair(at.line, at.column);
    });
    Names later, known = cost::names_for_formulas(cluster_.types.front());
    for (const auto& [name, node] : ordered) later.emplace_back(name->str());
    for (const auto& [name, node] : ordered) {
      auto formula = node->value_exact<std::string>();
      const auto& at = node->source().begin;
      if (!formula)
        throw wrong(at, fmt::format("`{}` is not a formula", name->str()), "write it in quotes: \"2e-9 * calls\"");
      auto read = cost::read_formula(*formula);
      if (auto* error = std::get_if<cost::FormulaError>(&read)) {
        auto location = at;
        location.column += static_cast<toml::source_index>(error->at + 1);
        throw wrong(location, fmt::format("invalid formula of `{}`: {}", name->str(), error->what),
                    "a formula may contain numbers, names, + - * /, min(a, b), max(a, b) and parentheses");
      }
      for (const std::string& used : std::get<cost::Formula>(read).names()) {
        if (std::ranges::find(known, used) != known.end()) continue;
        if (std::ranges::find(later, used) != later.end())
          throw wrong(at,
                      fmt::format("`{}` needs `{}`, which is {}", name->str(), used,
                                  used == name->str() ? "itself" : "defined below"),
                      "a term may only use terms above it");
        auto near = did_you_mean(used, known);
        throw wrong(
            at, fmt::format("the formula of `{}` uses the unknown name `{}`", name->str(), used),
            near ? "did you mean `" + *near + "`?" : fmt::format("expected one of `{}`", fmt::join(known, "`, `")));
      }
      cluster_.terms.push_back({std::string(name->str()), *formula});
      known.emplace_back(name->str());
    }
  }

  const SourceFile& source_;
  FileId file_;
  const Device& known_;
  Cluster cluster_;
  std::optional<const toml::table*> terms_;
};

}  // namespace

Cluster read_machine_file(const Session& session, FileId file, const Device& known) {
  return MachineReader(session, file, known).read();
}

}  // namespace tap::driver
