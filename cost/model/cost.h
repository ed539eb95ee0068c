// A cost: the amount of work, and its time term by term. Costs add up.
//
//   total = compute + waiting + moving − hidden + starting + imbalance + latency + transfer + the machine file's own terms
#pragma once

#include <string>
#include <vector>

#include "cost/machine/device.h"

namespace tap::cost {

struct Cost {
  // The amount of work.
  double operations = 0;    // on elements
  double instructions = 0;  // of full registers
  double loads = 0, stores = 0, rounds = 0;
  double calls = 0;     // of kernels, and copies
  double messages = 0;  // received from other devices
  double received = 0;  // bytes, from other devices
  double lanes = 0, lanes_used = 0;
  std::vector<double> bytes = {};  // loaded from each level, first cache first

  // Time, in seconds.
  double compute = 0;                // instructions, loads and stores
  double waiting = 0;                // for a previous result
  std::vector<double> moving = {};   // bytes, by level
  double hidden = 0;                 // overlapped with something else
  double starting = 0;               // tasks and threads
  double imbalance = 0;              // idle threads
  double latency = 0, transfer = 0;  // of messages
  std::vector<double> own = {};      // terms of the machine file

  double total() const;
  Cost& operator+=(const Cost& other);
  Cost& operator*=(double times);
  bool operator==(const Cost&) const = default;
};

struct Amount {
  std::string name;
  double value = 0;
  bool operator==(const Amount&) const = default;
};
// By name, in display order; the total is their sum.
std::vector<Amount> terms_of(const Cost& cost, const Cluster& cluster, const Device& device);
// Replaces the seconds of a term; false if the name is unknown.
bool replace_term(Cost& cost, const Device& device, const std::string& name, double seconds);
std::vector<Amount> quantities_of(const Cost& cost, const Device& device);

}  // namespace tap::cost
