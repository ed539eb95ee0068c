// Typed ids: an index into one particular table, so that a ValueId can never be used as an OperationId.
//
//   using ValueId = Id<struct ValueTag>;
//   ValueId v{3};   values[v.index()]
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace tap {

template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::size_t value) : value_(static_cast<std::uint32_t>(value)) {}

  constexpr std::size_t index() const { return value_; }
  constexpr bool valid() const { return value_ != none; }
  constexpr auto operator<=>(const Id&) const = default;

 private:
  static constexpr std::uint32_t none = 0xffffffffu;
  std::uint32_t value_ = none;
};

}  // namespace tap

template <class Tag>
struct std::hash<tap::Id<Tag>> {
  std::size_t operator()(tap::Id<Tag> id) const noexcept { return id.index(); }
};
