#include "compiler/driver/machines/keys.h"

namespace tap::driver {
namespace {

using cost::Device, cost::Link;

constexpr double kib = 1 << 10, gib = 1 << 30, most_bytes = 0x1p60, most_seconds = 3600;

// A level's field, if the device has such a level.
template <std::size_t L, double cost::MemoryLevel::*Field>
constexpr auto set_level = +[](Device& d, double v) {
  if (L < d.levels.size()) d.levels[L].*Field = v;
};
template <std::size_t L, double cost::MemoryLevel::*Field>
constexpr auto get_level = +[](const Device& d) { return L < d.levels.size() ? d.levels[L].*Field : 0; };

template <std::size_t L, std::int64_t ir::Machine::*Field>
constexpr auto set_cache = +[](Device& d, double v) {
  d.core.*Field = static_cast<std::int64_t>(v);
  if (L < d.levels.size()) d.levels[L].bytes = v;
};

#define TAP_CORE(field)                                                     \
  [](Device& d, double v) { d.core.field = static_cast<std::int64_t>(v); }, \
      [](const Device& d) { return static_cast<double>(d.core.field); }
#define TAP_OWN(field) [](Device& d, double v) { d.field = v; }, [](const Device& d) { return d.field; }
#define TAP_CACHE(level, field) \
  set_cache<level, &ir::Machine::field>, [](const Device& d) { return static_cast<double>(d.core.field); }
#define TAP_BANDWIDTHS(table, field)                                                           \
  {table,                                                                                      \
   "l1",                                                                                       \
   Unit::bandwidth,                                                                            \
   1e3,                                                                                        \
   most_rate,                                                                                  \
   set_level<0, &cost::MemoryLevel::field>,                                                    \
   get_level<0, &cost::MemoryLevel::field>},                                                   \
      {table,                                                                                  \
       "l2",                                                                                   \
       Unit::bandwidth,                                                                        \
       1e3,                                                                                    \
       most_rate,                                                                              \
       set_level<1, &cost::MemoryLevel::field>,                                                \
       get_level<1, &cost::MemoryLevel::field>},                                               \
      {table,                                                                                  \
       "l3",                                                                                   \
       Unit::bandwidth,                                                                        \
       1e3,                                                                                    \
       most_rate,                                                                              \
       set_level<2, &cost::MemoryLevel::field>,                                                \
       get_level<2, &cost::MemoryLevel::field>},                                               \
  {                                                                                            \
    table, "memory", Unit::bandwidth, 1e3, most_rate, set_level<3, &cost::MemoryLevel::field>, \
        get_level<3, &cost::MemoryLevel::field>                                                \
  }

constexpr DeviceKey all_device_keys[] = {
    {"", "threads", Unit::count, 1, 1 << 20, [](Device& d, double v) { d.threads = static_cast<std::int64_t>(v); },
     [](const Device& d) { return static_cast<double>(d.threads); }},
    {"", "memory", Unit::size, kib, most_bytes, TAP_OWN(memory_bytes)},
    {"", "scaling", Unit::share, 0.01, 1, TAP_OWN(scaling)},
    {"", "run", Unit::time, 0, most_seconds, TAP_OWN(run)},
    {"", "call", Unit::time, 0, most_seconds, TAP_OWN(call)},
    {"", "wake", Unit::time, 0, most_seconds, TAP_OWN(wake)},
    {"", "latency", Unit::time, 0, most_seconds, TAP_OWN(latency)},
    {"", "overlap", Unit::share, 0, 1, TAP_OWN(overlap)},
    {"", "loads", Unit::rate, 1, most_rate, TAP_OWN(loads)},
    {"", "stores", Unit::rate, 1, most_rate, TAP_OWN(stores)},
    {"", "rounds", Unit::rate, 1, most_rate, TAP_OWN(steps)},
    {"registers", "bytes", Unit::count, 16, 256, TAP_CORE(vector_bytes)},
    {"registers", "count", Unit::count, 8, 64, TAP_CORE(vector_registers)},
    {"caches", "l1", Unit::size, 4 * kib, gib, TAP_CACHE(0, l1_bytes)},
    {"caches", "l2", Unit::size, 4 * kib, gib, TAP_CACHE(1, l2_bytes)},
    {"caches", "l3", Unit::size, 4 * kib, gib, TAP_CACHE(2, l3_bytes)},
    TAP_BANDWIDTHS("read", read),
    TAP_BANDWIDTHS("write", write),
    TAP_BANDWIDTHS("read_all", read_shared),
    TAP_BANDWIDTHS("write_all", write_shared),
};

constexpr LinkKey all_link_keys[] = {
    {"count", Unit::count, 1, 1 << 20, [](Link& l, double v) { l.count = static_cast<std::int64_t>(v); },
     [](const Link& l) { return static_cast<double>(l.count); }},
    {"latency", Unit::time, 0, most_seconds, [](Link& l, double v) { l.latency = v; },
     [](const Link& l) { return l.latency; }},
    {"bandwidth", Unit::bandwidth, 1, most_rate, [](Link& l, double v) { l.bandwidth = v; },
     [](const Link& l) { return l.bandwidth; }},
};

#undef TAP_CORE
#undef TAP_OWN
#undef TAP_CACHE
#undef TAP_BANDWIDTHS

}  // namespace

std::span<const DeviceKey> device_keys() { return all_device_keys; }
std::span<const LinkKey> link_keys() { return all_link_keys; }

}  // namespace tap::driver
