#include "tests/random/tap_generator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <optional>

namespace tap::random {
namespace {

struct Known {
  std::string name;
  std::string type;  // i64, i32 or f64
  Shape shape;
};

using Names = std::vector<std::string>;

std::string joined(const Names& names) { return fmt::format("{}", fmt::join(names, ", ")); }

class Generator {
 public:
  explicit Generator(Choices& choose) : choose_(choose) {}

  TapProgram run() {
    for (std::int64_t n = 1 + choose_(2); n > 0; --n) add_input();
    for (std::int64_t n = 3 + choose_(6); n > 0; --n) statement();
    return finish();
  }

 private:
  using Kind = void (Generator::*)();
  struct Entry {
    const char* feature;
    Kind make;
  };
  static const std::vector<Entry>& kinds();
  friend const std::vector<std::string>& tap::random::all_features();

  void statement() {
    const Entry& entry = kinds()[static_cast<std::size_t>(choose_(static_cast<std::int64_t>(kinds().size())))];
    std::size_t before = known_.size();
    (this->*entry.make)();
    if (known_.size() != before) features_.insert(entry.feature);
    else map();  // nothing fits that kind of statement: the simplest
  }

  // Names, values and texts.
  void add_input() {
    Known k{fmt::format("in{}", inputs_.size()), type(), {}};
    for (std::int64_t rank = 1 + choose_(3); rank > 0; --rank) k.shape.push_back(choose_(16) == 0 ? 0 : 1 + choose_(6));
    inputs_.push_back(fmt::format("{}: {}{}", k.name, k.type, to_string(k.shape)));
    known_.push_back(k);
  }
  std::string type() {
    const char* types[] = {"i64", "i64", "i32", "f64"};
    return types[choose_(4)];
  }
  const Known& some() {
    // Mostly the newest: chains are what splits and fusion are about.
    std::int64_t back = choose_(3) ? 0 : choose_(static_cast<std::int64_t>(known_.size()));
    return known_[known_.size() - 1 - static_cast<std::size_t>(back)];
  }
  std::optional<Known> some_where(const std::function<bool(const Known&)>& fits) {
    for (std::size_t k = known_.size(); k-- > 0;)
      if (fits(known_[k])) return known_[k];
    return std::nullopt;
  }
  std::string fresh() { return fmt::format("t{}", ++names_); }
  void line(std::string text) { body_ += "    " + std::move(text) + "\n"; }
  // The kinds take a copy of what they read: a new tensor moves the others.
  void define(const std::string& name, const std::string& type, Shape shape) {
    known_.push_back({name, type, std::move(shape)});
  }
  static Names indices(std::size_t rank, const char* base = "i") {
    Names names;
    for (std::size_t a = 0; a < rank; ++a) names.push_back(base + std::to_string(a));
    return names;
  }
  static std::string at(const Known& x, const Names& index) { return fmt::format("{}[{}]", x.name, joined(index)); }
  static std::string literal(const Known& x, std::int64_t n) {
    return x.type == "f64" ? fmt::format("{}.0", n) : fmt::format("{}", n);
  }
  std::string shift(const std::string& index, std::int64_t by) {
    return by == 0 ? index : fmt::format("{} {} {}", index, by < 0 ? "-" : "+", std::abs(by));
  }

  // A cell expression of one tensor's type around a term of it.
  std::string around(const Known& x, const std::string& term, const Names& index) {
    switch (choose_(9)) {
      case 0: return fmt::format("{} + {}", term, literal(x, choose_(5)));
      case 1: return fmt::format("max({}, {})", term, literal(x, choose_(3)));
      case 2: return fmt::format("-{}", term);
      case 3: return fmt::format("abs({}) - {}", term, literal(x, 1));
      case 4:
        if (index.empty()) return term;
        features_.insert("if");
        return fmt::format("if {} < {} then {} else {}", index[0], choose_(5), term, literal(x, choose_(4)));
      case 5: features_.insert("let"); return fmt::format("let e = {} in e + e", term);
      case 6:
        if (index.empty()) return term;
        features_.insert("index value");
        return fmt::format("{} + {}({})", term, x.type, index[0]);
      case 7: return x.type == "f64" ? term : fmt::format("({}) % 7", term);
      default: return term;
    }
  }

  void map() {
    Known x = some();
    Names i = indices(x.shape.size());
    std::string name = fresh();
    line(fmt::format("{}[{}] = {}", name, joined(i), around(x, at(x, i), i)));
    define(name, x.type, x.shape);
  }

  void two_operands() {
    Known x = some();
    auto y = some_where([&](const Known& k) { return k.shape == x.shape && k.type == x.type && k.name != x.name; });
    if (!y) return;
    Names i = indices(x.shape.size());
    std::string name = fresh();
    line(fmt::format("{}[{}] = {} {} {}", name, joined(i), at(x, i), choose_(2) ? "+" : "-", at(*y, i)));
    define(name, x.type, x.shape);
  }

  void transposed() {
    Known x = some();
    if (x.shape.size() < 2) return;
    Names i = indices(x.shape.size()), turned = i;
    Shape shape = x.shape;
    std::swap(turned[0], turned.back());
    std::swap(shape[0], shape.back());
    std::string name = fresh();
    line(fmt::format("{}[{}] = {}", name, joined(turned), around(x, at(x, i), i)));
    define(name, x.type, shape);
  }

  void reversed() {
    Known x = some();
    Names i = indices(x.shape.size()), from = i;
    if (i.empty()) return;
    std::size_t a = static_cast<std::size_t>(choose_(static_cast<std::int64_t>(i.size())));
    from[a] = fmt::format("{} - {}", x.shape[a] - 1, i[a]);
    std::string name = fresh(), ranges;
    line(fmt::format("{}[{}] = {} for {} in 0..{}", name, joined(i), at(x, from), i[a], x.shape[a]));
    define(name, x.type, x.shape);
  }

  void shifted_with_fill() {
    Known x = some();
    Names i = indices(x.shape.size()), from = i;
    if (i.empty()) return;
    std::size_t a = static_cast<std::size_t>(choose_(static_cast<std::int64_t>(i.size())));
    from[a] = shift(i[a], choose_(5) - 2);
    std::string name = fresh();
    line(fmt::format("{}[{}] = {}[{} else {}] for {} in 0..{}", name, joined(i), x.name, joined(from),
                     literal(x, choose_(3)), i[a], x.shape[a]));
    define(name, x.type, x.shape);
  }

  void stencil() {
    Known x = some();
    Names i = indices(x.shape.size()), left = i, right = i;
    if (i.empty()) return;
    left[0] = i[0] + " - 1", right[0] = i[0] + " + 1";
    std::string name = fresh();
    line(fmt::format("{}[{}] = {}[{} else 0] + {} + {}[{} else 0]", name, joined(i), x.name, joined(left), at(x, i),
                     x.name, joined(right)));
    define(name, x.type, x.shape);
  }

  void window() {
    Known x = some();
    Names i = indices(x.shape.size()), from = i;
    if (i.empty() || x.shape.back() < 3) return;
    from.back() = i.back() + " + u";
    Shape shape = x.shape;
    shape.back() -= 2;
    std::string name = fresh();
    line(fmt::format("{}[{}] = {}[u in 0..3] {} for {} in 0..{}", name, joined(i), choose_(2) ? "sum" : "max",
                     at(x, from), i.back(), shape.back()));
    define(name, x.type, shape);
  }

  void strided() {
    Known x = some();
    Names i = indices(x.shape.size()), from = i;
    if (i.empty() || x.shape[0] < 2) return;
    from[0] = fmt::format("2*{} + {}", i[0], choose_(2));
    Shape shape = x.shape;
    shape[0] /= 2;
    std::string name = fresh();
    line(fmt::format("{}[{}] = {} for {} in 0..{}", name, joined(i), at(x, from), i[0], shape[0]));
    define(name, x.type, shape);
  }

  void reduction() {
    Known x = some();
    Names i = indices(x.shape.size()), kept = i;
    if (i.empty()) return;
    std::size_t a = static_cast<std::size_t>(choose_(static_cast<std::int64_t>(i.size())));
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(a));
    Shape shape = x.shape;
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(a));
    const char* monoids[] = {"sum", "max", "min"};
    std::string name = fresh();
    line(fmt::format("{}[{}] = {}[{}] ({})", name, joined(kept), monoids[choose_(3)], i[a], around(x, at(x, i), i)));
    define(name, x.type, shape);
  }

  void hoisted_reduction() {
    Known x = some();
    Names i = indices(x.shape.size()), k = i;
    if (i.empty()) return;
    k.back() = "k";
    std::string name = fresh();
    line(fmt::format("{}[{}] = {} - (max[k] {})", name, joined(i), at(x, i), at(x, k)));
    define(name, x.type, x.shape);
  }

  void contraction() {
    auto x = some_where([](const Known& k) { return k.shape.size() == 2 && k.type != "f64"; });
    if (!x) return;
    auto y = some_where(
        [&](const Known& k) { return k.shape.size() == 2 && k.type == x->type && k.shape[0] == x->shape[1]; });
    std::string name = fresh();
    if (y) {
      line(fmt::format("{}[i, j] = sum[k] {}[i, k] * {}[k, j]", name, x->name, y->name));
      define(name, x->type, {x->shape[0], y->shape[1]});
    } else {
      line(fmt::format("{}[i, j] = sum[k] {}[i, k] * {}[j, k]", name, x->name, x->name));
      define(name, x->type, {x->shape[0], x->shape[0]});
    }
  }

  void scan() {
    Known x = some();
    Names i = indices(x.shape.size()), k = i;
    if (i.empty()) return;
    k[0] = "k";
    std::string name = fresh(), range;
    if (choose_(2)) range = fmt::format("k in 0..{} + 1", i[0]);
    else range = fmt::format("k in {}..{}", i[0], x.shape[0]);
    line(fmt::format("{}[{}] = {}[{}] {} for {} in 0..{}", name, joined(i), choose_(2) ? "sum" : "max", range, at(x, k),
                     i[0], x.shape[0]));
    define(name, x.type, x.shape);
  }

  void triangle() {
    auto x = some_where([](const Known& k) { return k.shape.size() == 2; });
    if (!x) return;
    std::string name = fresh();
    line(fmt::format("{}[i, j] = if j <= i then {}[i, j] else 0", name, x->name));
    define(name, x->type, x->shape);
  }

  void scatter_and_gather() {
    auto x = some_where([](const Known& k) { return k.shape.size() == 1 && k.type == "i64"; });
    if (!x) return;
    std::string name = fresh();
    std::int64_t cells = 1 + choose_(4);
    if (choose_(2)) {
      line(fmt::format("{}[v] = sum[t] (if {}[t] == v then {}[t] else 0) for v in 0..{}", name, x->name, x->name,
                       cells));
      define(name, "i64", {cells});
    } else {
      line(fmt::format("{}[i] = {}[{}[i] else 1]", name, x->name, x->name));
      define(name, "i64", x->shape);
    }
  }

  void several_writers() {
    Known x = some();
    Names i = indices(x.shape.size()), first = i, second = i;
    if (i.empty()) return;
    Shape shape = x.shape;
    shape[0] *= 2;
    if (choose_(2)) {
      second[0] = fmt::format("{} + {}", i[0], x.shape[0]);
    } else {
      first[0] = "2*" + i[0];
      second[0] = "2*" + i[0] + " + 1";
    }
    std::string name = fresh();
    line(fmt::format("{}[{}] = {} for {} in 0..{}", name, joined(first), at(x, i), i[0], x.shape[0]));
    line(fmt::format("{}[{}] = {} for {} in 0..{}", name, joined(second), around(x, at(x, i), i), i[0], x.shape[0]));
    define(name, x.type, shape);
  }

  void flattened() {
    auto x = some_where([](const Known& k) { return k.shape.size() == 2; });
    if (!x) return;
    std::string name = fresh();
    line(fmt::format("{}[{}*i + j] = {}[i, j]", name, x->shape[1], x->name));
    define(name, x->type, {x->shape[0] * x->shape[1]});
  }

  void user_monoid() {
    Known x = some();
    Names i = indices(x.shape.size()), kept(i.begin(), i.end());
    if (i.empty() || x.type != "i64") return;
    kept.pop_back();
    Shape shape(x.shape.begin(), x.shape.end() - 1);
    std::string value = fresh(), place = fresh();
    if (choose_(2)) {
      declare(
          "monoid top(v: i64, at: i64) {\n    identity (i64.min, i64.max)\n    combine (a, b) = if b.v > a.v or "
          "(b.v == a.v and b.at < a.at) then b else a\n}\n");
      line(fmt::format("({}[{}], {}[{}]) = top[{}] ({}, {})", value, joined(kept), place, joined(kept), i.back(),
                       at(x, i), i.back()));
    } else {
      declare(
          "monoid recurrence(a: i64, b: i64) {\n    identity (1, 0)\n    combine (f, g) = (f.a * g.a, f.b * g.a + "
          "g.b)\n}\n");
      line(fmt::format("({}[{}], {}[{}]) = recurrence[{}] ({}, {} + 1)", value, joined(kept), place, joined(kept),
                       i.back(), at(x, i), at(x, i)));
    }
    define(place, "i64", shape);
    define(value, "i64", shape);
  }

  void user_monoid_scan() {
    auto x = some_where([](const Known& k) { return k.shape.size() == 1 && k.type == "i64"; });
    if (!x) return;
    declare(
        "monoid recurrence(a: i64, b: i64) {\n    identity (1, 0)\n    combine (f, g) = (f.a * g.a, f.b * g.a + "
        "g.b)\n}\n");
    std::string a = fresh(), b = fresh();
    line(fmt::format("({}[i], {}[i]) = recurrence[k in 0..i + 1] ({}[k], {}[k] - 1) for i in 0..{}", a, b, x->name,
                     x->name, x->shape[0]));
    define(a, "i64", x->shape);
    define(b, "i64", x->shape);
  }

  void iteration() {
    Known x = some();
    Names i = indices(x.shape.size()), left = i;
    if (i.empty()) return;
    left[0] = i[0] + " - 1";
    std::string name = fresh();
    std::string step = choose_(2) ? fmt::format("s[{}] + s[{} else 1]", joined(i), joined(left))
                                  : fmt::format("s[{}] + {}(t)", joined(i), x.type);
    line(
        fmt::format("{} = iterate t in 0..{} (s = {}) {{ r[{}] = {}; r }}", name, choose_(4), x.name, joined(i), step));
    define(name, x.type, x.shape);
  }

  void call() {
    Known x = some();
    declare("op twice(x: T[d..]) -> (y: T[d..]) where T: number {\n    y[i..] = x[i..] + x[i..]\n}\n");
    std::string name = fresh();
    line(fmt::format("{} = twice({})", name, x.name));
    define(name, x.type, x.shape);
  }

  void call_in_cells() {
    Known x = some();
    declare("op square(x: T[]) -> (y: T[]) where T: number {\n    y[] = x[] - 1\n}\n");
    Names i = indices(x.shape.size());
    std::string name = fresh();
    line(fmt::format("{}[{}] = square({}) + {}", name, joined(i), at(x, i), literal(x, 2)));
    define(name, x.type, x.shape);
  }

  void converted() {
    Known x = some();
    if (x.type == "f64") return;
    Names i = indices(x.shape.size());
    std::string name = fresh(), to = x.type == "i64" ? "i32" : "i64";
    line(fmt::format("{}[{}] = {}({})", name, joined(i), to, at(x, i)));
    define(name, to, x.shape);
  }

  void declare(const std::string& text) {
    for (const std::string& d : declarations_)
      if (d == text) return;
    declarations_.push_back(text);
  }

  TapProgram finish() {
    Names outputs;
    std::set<std::string> read;
    const Known& last = known_.back();
    outputs.push_back(fmt::format("y: {}{}", last.type, to_string(last.shape)));
    Names i = indices(last.shape.size());
    line(fmt::format("y[{}] = {}", joined(i), at(last, i)));
    std::string text;
    for (const std::string& d : declarations_) text += d;
    text += fmt::format("program p({}) -> ({}) {{\n{}}}\n", joined(inputs_), joined(outputs), body_);
    return {text, features_};
  }

  Choices& choose_;
  std::vector<Known> known_;
  Names inputs_, declarations_;
  std::string body_;
  int names_ = 0;
  std::set<std::string> features_;
};

const std::vector<Generator::Entry>& Generator::kinds() {
  static const std::vector<Entry> table = {
      {"map", &Generator::map},
      {"two operands", &Generator::two_operands},
      {"transpose", &Generator::transposed},
      {"reverse", &Generator::reversed},
      {"shift with fill", &Generator::shifted_with_fill},
      {"halo", &Generator::stencil},
      {"halo", &Generator::window},
      {"stride", &Generator::strided},
      {"reduction", &Generator::reduction},
      {"hoisted reduction", &Generator::hoisted_reduction},
      {"contraction", &Generator::contraction},
      {"scan", &Generator::scan},
      {"triangle", &Generator::triangle},
      {"scatter, gather", &Generator::scatter_and_gather},
      {"several writers", &Generator::several_writers},
      {"flatten", &Generator::flattened},
      {"user monoid", &Generator::user_monoid},
      {"user monoid", &Generator::user_monoid},
      {"scan by a user monoid", &Generator::user_monoid_scan},
      {"iterate", &Generator::iteration},
      {"iterate", &Generator::iteration},
      {"call", &Generator::call},
      {"call in cells", &Generator::call_in_cells},
      {"cast", &Generator::converted},
  };
  return table;
}

}  // namespace

TapProgram generate(Choices& choose) { return Generator(choose).run(); }

const std::vector<std::string>& all_features() {
  static const std::vector<std::string> features = [] {
    std::set<std::string> set{"if", "let", "index value"};
    for (const auto& entry : Generator::kinds()) set.insert(entry.feature);
    return std::vector<std::string>(set.begin(), set.end());
  }();
  return features;
}

Tensor input_values(ElementType type, const Shape& shape, Choices& choose) {
  Tensor t(type, shape);
  std::int64_t start = choose(7);
  for (std::int64_t k = 0; k < t.size(); ++k) {
    std::int64_t value = (start + 5 * k) % 9 - 3;
    if (is_float(type)) t.store_f64(k, static_cast<double>(value));
    else t.store_i64(k, value);
  }
  return t;
}

}  // namespace tap::random
