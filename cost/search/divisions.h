// How an operation could be divided over a mesh where a plan divides all others: what each way takes, term by term.
//
//   H[i, o] = sum[k] X[i, k] * W[k, o], where X is held as [{data}, {}]
//     split H dim i into 4 over data      71 us: its loops 60 us, its result 11 us                     that of the plan
//     split H dim k into 4 over data      90 us: its loops 60 us, its operands 9 us, its partials 21 us
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cost/search/sharding_search.h"

namespace tap::cost {

struct Division {
  std::vector<std::string> lines;  // of a plan
  Objectives predicted;            // of the whole plan, or of one trip of the body
  // In seconds. Messages are those of one device.
  double loops = 0;     // of the operation
  double operands = 0;  // messages to bring its operands to it
  double partials = 0;  // … to combine what devices have computed
  double results = 0;   // … to bring its results to their readers
  double others = 0;    // … to bring its operands to their other readers
};
struct Divisions {
  std::vector<std::string> operations;  // those of one site, which are divided alike
  bool of_a_trip = false;               // of the body of an iterate
  std::vector<Division> list;           // that of the plan first, then the fastest first
};
struct FoundDivisions {
  std::vector<Divisions> sites;
  std::vector<passes::PlanProblem> problems;  // lines with which plans cannot be compared; then there are no sites
};

// Of the operations of these names, where `options.kept` is the plan. Pre: as search().
FoundDivisions divisions_of(const ir::Program& program, ir::MeshId mesh, const SearchOptions& options,
                            const std::function<bool(const std::string&)>& is_about);

}  // namespace tap::cost
