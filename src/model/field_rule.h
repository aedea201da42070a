#pragma once

// Rules that compute a value from fields, as data. C++ evaluates a rule here; the schema's views contain it as SQL
// (rule_sql()), so that each rule exists once.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "model/machine.h"
#include "model/process.h"

namespace memoir {

// A list of up to four fields that is known at compile time.
template <typename E>
class FieldList {
 public:
  constexpr FieldList(std::initializer_list<E> fields) : size_(fields.size()) {
    std::ranges::copy(fields, fields_.begin());
  }

  constexpr const E* begin() const { return fields_.data(); }
  constexpr const E* end() const { return fields_.data() + size_; }
  constexpr std::size_t size() const { return size_; }
  constexpr bool contains(E field) const { return std::ranges::find(*this, field) != end(); }

 private:
  std::array<E, 4> fields_{};
  std::size_t size_ = 0;
};

template <typename E>
struct FieldRule {
  enum class How : std::uint8_t {
    sum,        // sum of all, minus `less`; nullopt if one is absent
    remainder,  // the same; nullopt if it is below 0
    first,      // the first present field
    largest,    // the largest present field
  };

  How how = How::sum;
  FieldList<E> of = {};
  std::optional<E> less = {};
  std::optional<E> less_known = {};  // another field to subtract, if present
  std::optional<E> only_with = {};   // nullopt without this field

  constexpr bool needs(E field) const {
    return of.contains(field) || less == field || less_known == field || only_with == field;
  }
};

using ProcessRule = FieldRule<ProcessField>;
using MachineRule = FieldRule<MachineField>;

// Returns the value of the rule; nullopt if it is unknown or overflows.
template <typename E>
std::optional<std::int64_t> value_of(const FieldRule<E>& rule, const FieldSet<E>& values) {
  using How = typename FieldRule<E>::How;
  if (rule.only_with && !values.has(*rule.only_with)) return std::nullopt;
  if (rule.how == How::first || rule.how == How::largest) {
    std::optional<std::int64_t> found;
    for (const E field : rule.of) {
      if (rule.how == How::first && found) break;
      found = std::max(found, values.get(field));  // nullopt is less than any value
    }
    return found;
  }
  std::int64_t total = 0;
  for (const E field : rule.of) {
    const auto value = values.get(field);
    if (!value || __builtin_add_overflow(total, *value, &total)) return std::nullopt;
  }
  if (!rule.less) return total;
  const auto less = values.get(*rule.less);
  if (!less || __builtin_sub_overflow(total, *less, &total)) return std::nullopt;
  if (rule.less_known && __builtin_sub_overflow(total, values.or_zero(*rule.less_known), &total)) return std::nullopt;
  return rule.how == How::remainder && total < 0 ? std::nullopt : std::optional(total);
}

// Private_Clean + Private_Dirty.
inline constexpr ProcessRule kUssRule{.of = {ProcessField::private_clean, ProcessField::private_dirty}};

// RSS from smaps_rollup, otherwise from status.
inline constexpr ProcessRule kRssRule{.how = ProcessRule::How::first, .of = {ProcessField::rss, ProcessField::vm_rss}};
inline constexpr ProcessRule kAnonRule{.how = ProcessRule::How::first,
                                       .of = {ProcessField::anonymous, ProcessField::rss_anon}};
inline constexpr ProcessRule kSwapRule{.how = ProcessRule::How::first,
                                       .of = {ProcessField::swap, ProcessField::vm_swap}};

// The kernel raises VmHWM only when RSS is about to fall. smaps_rollup is read after status, so its Rss counts too.
inline constexpr ProcessRule kHighWaterRule{.how = ProcessRule::How::largest,
                                            .of = {ProcessField::vm_hwm, ProcessField::vm_rss, ProcessField::rss}};

// Memory in use, which new allocations cannot get without swapping. MemAvailable omits the free pages on the CPUs'
// lists. nullopt without MemAvailable (before Linux 3.14), and if the counters contradict each other, as in some
// containers.
inline constexpr MachineRule kUsedRule{.how = MachineRule::How::remainder,
                                       .of = {MachineField::mem_total},
                                       .less = MachineField::mem_available,
                                       .less_known = MachineField::per_cpu_free};
inline constexpr MachineRule kSwapUsedRule{
    .how = MachineRule::How::remainder, .of = {MachineField::swap_total}, .less = MachineField::swap_free};

}  // namespace memoir
