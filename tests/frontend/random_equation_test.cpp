// Random equations as text: legal ones pass the proof and evaluate as brute force does; mutated ones are refused exactly
// when brute force finds a violation, and the witness in the message is one.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <regex>

#include "tests/frontend/compile_source.h"

namespace tap::test {
namespace {

struct Affine {
  std::vector<int> coefficients;  // per variable
  int offset = 0;
  int at(const std::vector<int>& point) const {
    int value = offset;
    for (std::size_t i = 0; i < coefficients.size(); ++i) value += coefficients[i] * point[i];
    return value;
  }
  std::string text() const {
    std::string s;
    for (std::size_t i = 0; i < coefficients.size(); ++i)
      if (coefficients[i] != 0)
        s += (s.empty() ? "" : " + ") + std::to_string(coefficients[i]) + "*v" + std::to_string(i);
    return s.empty() ? std::to_string(offset) : s + " + " + std::to_string(offset);
  }
};

// y[left] = Σ_reduced a[read]·b[read'] over variables v0 … with written ranges; some variables are reduced.
struct Equation {
  std::vector<int> extents;  // of the variables
  std::size_t parallel = 1;  // the first ones are on the left, the rest is reduced
  std::vector<Affine> left;
  std::vector<int> result;  // shape
  std::vector<std::vector<Affine>> reads;
  std::vector<std::vector<int>> shapes;

  std::string text() const {
    auto list = [](const std::vector<Affine>& rows) {
      std::string s;
      for (const auto& row : rows) s += (s.empty() ? "" : ", ") + row.text();
      return s;
    };
    auto shape = [](const std::vector<int>& sizes) {
      std::string s;
      for (int n : sizes) s += (s.empty() ? "" : ", ") + std::to_string(n);
      return s;
    };
    std::string inputs, product, ranges, reduced;
    for (std::size_t k = 0; k < reads.size(); ++k) {
      std::string name(1, static_cast<char>('a' + k));
      inputs += (k ? ", " : "") + name + ": i64[" + shape(shapes[k]) + "]";
      product += (k ? " * " : "") + name + "[" + list(reads[k]) + "]";
    }
    for (std::size_t v = 0; v < extents.size(); ++v) {
      std::string range = "v" + std::to_string(v) + " in 0.." + std::to_string(extents[v]);
      std::string& to = v < parallel ? ranges : reduced;
      to += (to.empty() ? "" : ", ") + range;
    }
    if (!reduced.empty()) product = "sum[" + reduced + "] " + product;
    return "program p(" + inputs + ") -> (y: i64[" + shape(result) + "]) {\n  y[" + list(left) + "] = " + product +
           (ranges.empty() ? "" : " for " + ranges) + "\n}\n";
  }
};

// Calls visit for each point of the first `n` variables after `fixed`.
template <class Visit>
void each_point(const Equation& e, std::size_t from, std::size_t to, std::vector<int>& point, Visit visit) {
  if (from == to) return visit();
  for (point[from] = 0; point[from] < e.extents[from]; ++point[from]) each_point(e, from + 1, to, point, visit);
  point[from] = 0;
}

bool inside(const std::vector<int>& cell, const std::vector<int>& shape) {
  for (std::size_t i = 0; i < cell.size(); ++i)
    if (cell[i] < 0 || cell[i] >= shape[i]) return false;
  return true;
}

std::vector<int> cell_at(const std::vector<Affine>& rows, const std::vector<int>& point) {
  std::vector<int> cell;
  for (const auto& row : rows) cell.push_back(row.at(point));
  return cell;
}

std::size_t position(const std::vector<int>& cell, const std::vector<int>& shape) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < cell.size(); ++i)
    at = at * static_cast<std::size_t>(shape[i]) + static_cast<std::size_t>(cell[i]);
  return at;
}

struct Verdict {
  bool legal = true;
  std::vector<double> values;
};

Verdict brute_force(const Equation& e, const std::vector<std::vector<double>>& inputs) {
  Verdict verdict;
  std::size_t cells = 1;
  for (int n : e.result) cells *= static_cast<std::size_t>(n);
  std::vector<int> written(cells, 0);
  verdict.values.assign(cells, 0);
  std::vector<int> point(e.extents.size(), 0);
  each_point(e, 0, e.extents.size(), point, [&] {
    for (std::size_t k = 0; k < e.reads.size(); ++k) verdict.legal &= inside(cell_at(e.reads[k], point), e.shapes[k]);
  });
  each_point(e, 0, e.parallel, point, [&] {
    auto cell = cell_at(e.left, point);
    if (!inside(cell, e.result)) verdict.legal = false;
    else ++written[position(cell, e.result)];
  });
  for (int times : written) verdict.legal &= times == 1;
  if (!verdict.legal) return verdict;
  each_point(e, 0, e.parallel, point, [&] {
    double sum = 0;
    each_point(e, e.parallel, e.extents.size(), point, [&] {
      double product = 1;
      for (std::size_t k = 0; k < e.reads.size(); ++k)
        product *= inputs[k][position(cell_at(e.reads[k], point), e.shapes[k])];
      sum += product;
    });
    verdict.values[position(cell_at(e.left, point), e.result)] = sum;
  });
  return verdict;
}

int pick(int lo, int hi) { return *rc::gen::inRange(lo, hi); }

// Legal by construction: a left side that is a permutation, reversal or mixed radix of its variables; reads whose tensors
// are just large enough.
Equation random_legal() {
  Equation e;
  e.parallel = static_cast<std::size_t>(pick(1, 4));
  std::size_t variables = e.parallel + static_cast<std::size_t>(pick(0, 3));
  for (std::size_t v = 0; v < variables; ++v) e.extents.push_back(pick(v < e.parallel ? 1 : 0, 4));
  std::size_t v = 0;
  while (v < e.parallel) {
    Affine row{std::vector<int>(variables, 0), 0};
    int choice = pick(0, 3);
    if (choice == 2 && v + 1 < e.parallel) {  // v0·n + v1
      row.coefficients[v] = e.extents[v + 1];
      row.coefficients[v + 1] = 1;
      e.result.push_back(e.extents[v] * e.extents[v + 1]);
      v += 2;
    } else {
      bool reversed = choice == 1;
      row.coefficients[v] = reversed ? -1 : 1;
      row.offset = reversed ? e.extents[v] - 1 : 0;
      e.result.push_back(e.extents[v]);
      v += 1;
    }
    e.left.push_back(row);
  }
  int reads = pick(1, 3);
  for (int k = 0; k < reads; ++k) {
    std::vector<Affine> rows;
    std::vector<int> shape;
    int rank = pick(1, 3);
    for (int axis = 0; axis < rank; ++axis) {
      Affine row{std::vector<int>(variables, 0), 0};
      for (auto& c : row.coefficients) c = pick(0, 3) == 0 ? pick(-2, 3) : 0;
      int lo = 0, hi = 0;
      for (std::size_t i = 0; i < variables; ++i) {
        int far = row.coefficients[i] * std::max(e.extents[i] - 1, 0);
        lo += std::min(far, 0);
        hi += std::max(far, 0);
      }
      row.offset = -lo;
      rows.push_back(row);
      shape.push_back(hi - lo + 1);
    }
    e.reads.push_back(rows);
    e.shapes.push_back(shape);
  }
  return e;
}

std::vector<std::vector<double>> random_inputs(const Equation& e) {
  std::vector<std::vector<double>> inputs;
  for (const auto& shape : e.shapes) {
    std::size_t n = 1;
    for (int size : shape) n *= static_cast<std::size_t>(size);
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) values.push_back(static_cast<double>((i * 2654435761u >> 7) % 17) - 8);
    inputs.push_back(values);
  }
  return inputs;
}

RC_GTEST_PROP(RandomEquation, LegalEquationsPassTheProofAndTheOracle, ()) {
  Equation e = random_legal();
  RC_LOG() << e.text();
  auto inputs = random_inputs(e);
  Verdict expected = brute_force(e, inputs);
  RC_ASSERT(expected.legal);
  Outcome outcome = compile_text(e.text());
  if (!outcome.compiled) RC_LOG() << outcome.messages;
  RC_ASSERT(outcome.compiled.has_value());
  RC_ASSERT(run_text(e.text(), inputs).at(0) == expected.values);
}

// "at v0=1, v2=0 this reads `a[3, 1]`": the point gives the cell, and the cell lies outside.
bool confirms(const Equation& e, const std::string& message) {
  static const std::regex outside(R"(at ([^`]*) this (reads|writes) `([a-z])\[([^\]]*)\]`)");
  static const std::regex never(R"(cell `y\[([^\]]*)\]` is never written)");
  static const std::regex twice(R"(`y\[([^\]]*)\]` is written at ([^`]*) and again at (.*))");
  auto numbers = [](const std::string& text) {
    std::vector<int> all;
    static const std::regex number("-?[0-9]+");
    for (auto it = std::sregex_iterator(text.begin(), text.end(), number); it != std::sregex_iterator(); ++it)
      all.push_back(std::stoi(it->str()));
    return all;
  };
  auto point_of = [&](const std::string& text) {
    std::vector<int> point(e.extents.size(), 0);
    static const std::regex binding("v([0-9]+)=(-?[0-9]+)");
    for (auto it = std::sregex_iterator(text.begin(), text.end(), binding); it != std::sregex_iterator(); ++it)
      point[std::stoul((*it)[1])] = std::stoi((*it)[2]);
    for (std::size_t v = 0; v < point.size(); ++v)
      if (point[v] < 0 || point[v] >= std::max(e.extents[v], 1)) return std::vector<int>{};
    return point;
  };
  std::smatch m;
  if (std::regex_search(message, m, outside)) {
    auto point = point_of(m[1]);
    if (point.empty()) return false;
    bool read = m[2] == "reads";
    auto k = static_cast<std::size_t>(m[3].str()[0] - 'a');
    const auto& rows = read ? e.reads.at(k) : e.left;
    const auto& shape = read ? e.shapes.at(k) : e.result;
    return cell_at(rows, point) == numbers(m[4]) && !inside(cell_at(rows, point), shape);
  }
  if (std::regex_search(message, m, twice)) {
    auto first = point_of(m[2]), second = point_of(m[3]);
    return !first.empty() && !second.empty() && first != second && cell_at(e.left, first) == numbers(m[1]) &&
           cell_at(e.left, second) == numbers(m[1]);
  }
  if (std::regex_search(message, m, never)) {
    bool hit = false;
    std::vector<int> point(e.extents.size(), 0);
    each_point(e, 0, e.parallel, point, [&] { hit |= cell_at(e.left, point) == numbers(m[1]); });
    return !hit && inside(numbers(m[1]), e.result);
  }
  return false;
}

RC_GTEST_PROP(RandomEquation, MutantsAreRefusedWithAValidWitness, ()) {
  Equation e = random_legal();
  switch (pick(0, 5)) {
    case 0: e.shapes[0][0] -= 1; break;
    case 1: e.reads[0][0].offset -= pick(1, 3); break;
    case 2: e.result[0] += 1; break;
    case 3: e.left[0].offset += pick(-1, 2); break;
    default: e.left[0].coefficients[0] += pick(-1, 2); break;
  }
  RC_LOG() << e.text();
  Verdict expected = brute_force(e, random_inputs(e));
  Outcome outcome = compile_text(e.text());
  if (!outcome.compiled) RC_LOG() << outcome.messages;
  RC_ASSERT(outcome.compiled.has_value() == expected.legal);
  RC_CLASSIFY(!expected.legal, "illegal");
  if (!expected.legal) RC_ASSERT(confirms(e, outcome.messages));
}

}  // namespace
}  // namespace tap::test
