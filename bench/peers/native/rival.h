// What the rivals with a C++ interface share: the list of offers, and oneDNN's engine and memories.
#pragma once

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include <dnnl.hpp>
#include "bench/peers/protocol.h"

namespace rivals {

using dnnl::memory;
using Tag = memory::format_tag;
constexpr auto f32 = memory::data_type::f32;

inline std::vector<peers::Peer> offered;
inline void offer(const char* name, const float* result, std::size_t count, std::function<void()> call) {
  offered.push_back({name, std::move(call), [=] { return std::pair(result, count); }});
}

inline dnnl::engine& engine() {
  static dnnl::engine one(dnnl::engine::kind::cpu, 0);
  return one;
}
inline dnnl::stream& stream() {
  static dnnl::stream one(engine());
  return one;
}
inline memory over(const memory::desc& type, const float* cells) {
  return memory(type, engine(), const_cast<float*>(cells));
}
inline void execute(const dnnl::primitive& primitive, const std::unordered_map<int, memory>& arguments) {
  primitive.execute(stream(), arguments);
  stream().wait();
}
// The same cells in the layout that a primitive requests; the same memory where it is that one already.
inline memory laid_out(memory from, const memory::desc& target) {
  if (from.get_desc() == target) return from;
  memory to(target, engine());
  dnnl::reorder(from, to).execute(stream(), from, to);
  stream().wait();
  return to;
}

}  // namespace rivals
