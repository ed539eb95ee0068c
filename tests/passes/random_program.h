// Random programs in Tap, legal by construction: equations that read the values before them, over vectors and matrices of a
// few sizes. Every way to read and write occurs: in place, transposed, reversed, shifted with a fill, by coordinates from
// data; maps, reductions, scans, scatters, several writers of a value, calls, repetition. Values stay small integers,
// so that in every type sums and products are exact, or rounded where they are written.
#pragma once

#include <rapidcheck.h>

#include <string>
#include <vector>

namespace tap::passes::test {

class RandomProgram {
 public:
  explicit RandomProgram(std::string type) : type_(std::move(type)) {}

  std::string make() {
    for (int k = 0; k < 2; ++k) {
      vectors_.push_back("x" + std::to_string(k));
      matrices_.push_back("m" + std::to_string(k));
    }
    for (int statements = pick(2, 9); statements > 0; --statements) statement();
    return text();
  }

 private:
  static constexpr int n = 5, m = 3;  // vectors are of n, matrices n × m

  static int pick(int lo, int hi) { return *rc::gen::inRange(lo, hi); }
  const std::string& pick_name(const std::vector<std::string>& names) {
    // Mostly of the last ones, so that chains arise.
    std::size_t back = static_cast<std::size_t>(pick(0, 3));
    std::size_t at = back < names.size() && pick(0, 3)
                         ? names.size() - 1 - back
                         : static_cast<std::size_t>(pick(0, static_cast<int>(names.size())));
    return names[at];
  }

  std::string literal() { return type_ + "(" + std::to_string(pick(-2, 4)) + ")"; }

  // A place on an axis of that size, at or around the variable.
  std::string at(const std::string& variable, int size, bool& bounded) {
    switch (pick(0, 6)) {
      case 0: return std::to_string(size - 1) + " - " + variable;
      case 1: bounded = true; return variable + " - 1";
      case 2: bounded = true; return variable + " + " + std::to_string(pick(1, 3));
      default: return variable;
    }
  }
  std::string access(const std::string& name, const std::vector<std::string>& coordinates, bool bounded) {
    std::string list;
    for (const std::string& coordinate : coordinates) list += (list.empty() ? "" : ", ") + coordinate;
    return name + "[" + list + (bounded ? " else " + literal() : "") + "]";
  }

  // A cell over i (of n) and, if there is one, j (of m).
  std::string read(bool matrix) {
    bool bounded = false;
    int kind = pick(0, 8);
    if (matrix && kind < 5) {
      std::string i = at("i", n, bounded), j = at("j", m, bounded);
      return access(pick_name(matrices_), {i, j}, bounded);
    }
    if (kind == 5) return pick_name(vectors_) + "[i64(" + pick_name(vectors_) + "[i]) else " + literal() + "]";
    if (kind == 6) return type_ + "(" + (matrix && pick(0, 2) ? "j" : "i") + ")";
    std::string coordinate = matrix && pick(0, 2) ? at("j", m, bounded) : at("i", n, bounded);
    return access(pick_name(vectors_), {coordinate}, bounded);
  }
  std::string cell(bool matrix, int depth) {
    if (depth == 0) return pick(0, 5) ? read(matrix) : literal();
    auto inner = [&] { return cell(matrix, depth - 1 - pick(0, 2) * (depth > 1)); };
    switch (pick(0, 9)) {
      case 0: return "(" + inner() + " + " + inner() + ")";
      case 1: return "(" + inner() + " - " + inner() + ")";
      case 2: return "(" + inner() + " * " + literal() + ")";
      case 3: return "max(" + inner() + ", " + inner() + ")";
      case 4: return "min(" + inner() + ", " + literal() + ")";
      case 5:
        return "(if i " + std::string(pick(0, 2) ? "<" : ">=") + " " + std::to_string(pick(0, 6)) + " then " + inner() +
               " else " + inner() + ")";
      case 6: return "(if " + inner() + " < " + inner() + " then " + inner() + " else " + literal() + ")";
      case 7: return "(-" + inner() + ")";
      default: return read(matrix);
    }
  }

  std::string fresh(bool matrix) {
    std::string name = "v" + std::to_string(count_++);
    pending_matrix_ = matrix;
    return name;
  }
  void define(const std::string& name, const std::string& line) {
    body_ += "    " + line + "\n";
    (pending_matrix_ ? matrices_ : vectors_).push_back(name);
  }

  void statement() {
    switch (pick(0, 12)) {
      case 0: return reduction();
      case 1: return scan();
      case 2: return scatter();
      case 3: return writers();
      case 4: return iterate();
      case 5: return call();
      case 6: {
        std::string name = fresh(true), source = pick_name(matrices_);
        return define(name, name + "[i, j] = " + source + "[i, j]");
      }
      case 7: {
        std::string name = fresh(false), source = pick_name(vectors_);
        return define(
            name, name + "[i] = " + source + "[" + std::to_string(n - 1) + " - i] for i in 0.." + std::to_string(n));
      }
      default: return map();
    }
  }
  void map() {
    bool matrix = pick(0, 2);
    std::string name = fresh(matrix);
    define(name, name + (matrix ? "[i, j] = " : "[i] = ") + cell(matrix, pick(0, 3)) + ranges(matrix));
  }
  static std::string ranges(bool matrix) {
    return " for i in 0.." + std::to_string(n) + (matrix ? ", j in 0.." + std::to_string(m) : "");
  }
  void reduction() {
    std::string name = fresh(false), monoid = pick(0, 2) ? "sum" : "max";
    define(name, name + "[i] = " + monoid + "[j in 0.." + std::to_string(m) + "] (" + cell(true, 1) + ") for i in 0.." +
                     std::to_string(n));
  }
  void scan() {
    std::string name = fresh(false), source = pick_name(vectors_);
    define(name, name + "[i] = sum[k in 0..i+1] " + source + "[k] for i in 0.." + std::to_string(n));
  }
  void scatter() {
    std::string name = fresh(false), ids = pick_name(vectors_), source = pick_name(vectors_);
    define(name, name + "[i] = sum[t in 0.." + std::to_string(n) + "] (if i64(" + ids + "[t]) == i then " + source +
                     "[t] else 0) for i in 0.." + std::to_string(n));
  }
  void writers() {
    std::string name = fresh(false), a = pick_name(vectors_), b = pick_name(vectors_);
    body_ += "    " + name + "[i] = " + a + "[i] for i in 0..2\n";
    define(name, name + "[i + 2] = " + b + "[i] for i in 0.." + std::to_string(n - 2));
  }
  void iterate() {
    std::string name = fresh(false), from = pick_name(vectors_), other = pick_name(vectors_);
    std::string n_text = std::to_string(n);
    define(name, name + " = iterate t in 0.." + std::to_string(pick(0, 4)) + " (s = " + from +
                     ") { a[i] = min(s[i - 1 else 1], 9) + " + type_ + "(t) for i in 0.." + n_text +
                     "; b[i] = max(a[i], " + other + "[i]) - a[" + std::to_string(n - 1) + " - i] for i in 0.." +
                     n_text + "; b }");
  }
  void call() {
    std::string name = fresh(false);
    define(name, name + " = soft(" + pick_name(vectors_) + ", " + pick_name(vectors_) + ")");
  }

  // The last values and one in the middle are results.
  std::string text() {
    std::string inputs, outputs;
    for (int k = 0; k < 2; ++k) {
      inputs += (k ? ", " : "") + ("x" + std::to_string(k) + ": " + type_ + "[5], ") + "m" + std::to_string(k) + ": " +
                type_ + "[5, 3]";
    }
    std::string last = body_;
    for (auto [names, shape] : {std::pair(&vectors_, "[5]"), std::pair(&matrices_, "[5, 3]")}) {
      if (names->size() <= 2) continue;
      outputs += (outputs.empty() ? "" : ", ") + names->back() + ": " + type_ + shape;
      if (names->size() > 4 && pick(0, 3) == 0) outputs += ", " + (*names)[3] + ": " + type_ + shape;
    }
    return "op soft(a: T[n], b: T[n]) -> (y: T[n]) where T: number {\n    h[i] = max(a[i], 0) + b[i]\n"
           "    y[i] = h[i] - min(h[i], 2)\n}\n"
           "program p(" +
           inputs + ") -> (" + outputs + ") {\n" + body_ + "}\n";
  }

  std::string type_, body_;
  std::vector<std::string> vectors_, matrices_;
  bool pending_matrix_ = false;
  int count_ = 0;
};

}  // namespace tap::passes::test
