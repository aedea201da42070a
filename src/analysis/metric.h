#pragma once

// The memory of a process in one number: what rows are ranked by and series are drawn of.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/tick.h"

namespace memoir {

enum class Metric : std::uint8_t { pss, rss, uss, anon, swap, swap_pss, hwm };

inline constexpr std::array kMetrics{Metric::pss,  Metric::rss,      Metric::uss, Metric::anon,
                                     Metric::swap, Metric::swap_pss, Metric::hwm};

std::string_view to_string(Metric metric);
// As people write it: "PSS", "SwapPss", "anon", "high-water mark".
std::string_view metric_title(Metric metric);
std::optional<Metric> parse_metric(std::string_view name);

// Absent where it was not known. RSS stands in for PSS where the sample's source says so.
std::optional<std::int64_t> metric_kib(const ProcessMemory& memory, Metric metric);

// Where smaps_rollup could not be read, RSS or nothing stands in for what only that file tells.
bool is_exact(Metric metric, Source source);

// What that is made of.
std::vector<ProcessField> metric_fields(Metric metric);

// Of a category: it has no anon and no hwm.
std::optional<std::int64_t> metric_kib(const CategorySample& sample, Metric metric);

}  // namespace memoir
