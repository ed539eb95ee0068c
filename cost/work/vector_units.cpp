#include "cost/work/vector_units.h"

#include <algorithm>

namespace tap::cost {
namespace {

// Elements per second, if all units did nothing else.
struct Rates {
  double products = 0, additions = 0;
};
// A product and an addition take together what they take in turns, and each at most what it takes alone.
Rates rates_on_all(const Device& device, ElementType type) {
  const Rates alone{device.rates.of(type, Instruction::arithmetic), device.rates.of(type, Instruction::add)};
  const double mixed = device.mixed[static_cast<std::size_t>(type)];
  if (mixed <= shared_rate(device, type)) return alone;
  const double addition = std::min(1 / alone.additions, std::max(1 / mixed, 2 / mixed - 1 / alone.products));
  return {1 / std::min(1 / alone.products, 2 / mixed - addition), 1 / addition};
}

}  // namespace

double UnitTimes::longest() const { return std::max({products, additions, all}); }

UnitTimes unit_times(const Device& device, ElementType type, Instruction kind, double registers) {
  const double elements =
      registers *
      std::max(static_cast<double>(device.core.vector_bytes) / static_cast<double>(size_of(compute_type(type))), 1.0);
  const double alone = elements / device.rates.of(type, kind);
  switch (kind) {
    case Instruction::arithmetic: return {alone, 0, elements / rates_on_all(device, type).products};
    case Instruction::add: return {0, alone, elements / rates_on_all(device, type).additions};
    // Polynomials.
    case Instruction::exponential:
    case Instruction::logarithm:
    case Instruction::trigonometric:
    case Instruction::function: return {alone, 0, alone};
    case Instruction::convert:
    case Instruction::round: return {0, alone, alone};
    // Of several instructions, or on any unit. Quotients and roots: instruction_walk.cpp.
    case Instruction::minimum:
    case Instruction::compare:
    case Instruction::bits:
    case Instruction::gather:
    case Instruction::divide:
    case Instruction::root: return {0, 0, alone};
  }
  return {};
}

void add(UnitTimes& times, const UnitTimes& more) {
  times.products += more.products;
  times.additions += more.additions;
  times.all += more.all;
}

}  // namespace tap::cost
