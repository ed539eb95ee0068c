// The keywords of the text form for enumerations, shared by printer and parser.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "ir/operator.h"
#include "ir/placement.h"
#include "ir/schedule.h"
#include "ir/shardings/sharding.h"

namespace tap::ir::words {

template <class Enum>
struct Word {
  Enum value;
  std::string_view text;
};

inline constexpr std::array<Word<DimRole>, 3> roles = {
    {{DimRole::parallel, "parallel"}, {DimRole::reduction, "reduce"}, {DimRole::counter, "counter"}}};
inline constexpr std::array<Word<Law>, 4> laws = {
    {{Law::unknown, "unknown"}, {Law::proved, "proved"}, {Law::assumed, "assumed"}, {Law::broken, "broken"}}};
inline constexpr std::array<Word<RegionKind>, 4> regions = {{{RegionKind::call, "call"},
                                                             {RegionKind::iterate, "iterate"},
                                                             {RegionKind::group, "group"},
                                                             {RegionKind::choice, "choice"}}};
inline constexpr std::array<Word<BarrierKind>, 3> barriers = {
    {{BarrierKind::forward, "forward"}, {BarrierKind::backward, "backward"}, {BarrierKind::both, "both"}}};
inline constexpr std::array<Word<Placement>, 5> placements = {{{Placement::unspecified, "anywhere"},
                                                               {Placement::threads, "threads"},
                                                               {Placement::sequential, "sequential"},
                                                               {Placement::mesh_axis, "axis"},
                                                               {Placement::devices, "devices"}}};

inline constexpr std::array<Word<StageKind>, 3> stages = {
    {{StageKind::program, "program"}, {StageKind::blocks, "blocks"}, {StageKind::schedule, "schedule"}}};
inline constexpr std::array<Word<MemorySpace>, 4> memory_spaces = {{{MemorySpace::arena, "arena"},
                                                                    {MemorySpace::input, "input"},
                                                                    {MemorySpace::output, "output"},
                                                                    {MemorySpace::prepared, "prepared"}}};

template <class Table, class Enum>
std::string_view text_of(const Table& table, Enum value) {
  for (const auto& word : table)
    if (word.value == value) return word.text;
  return "?";
}

}  // namespace tap::ir::words
