#pragma once

// The lines of memoir memory: one sum each, with where it is from and what it is a share of.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "query/answer/command.h"
#include "query/answer/state.h"

namespace memoir::query {

struct Line {
  std::string name;
  std::string title;
  std::optional<std::int64_t> kib;
  std::string_view how;
  std::string of = {};
  std::optional<std::int64_t> whole = {};  // of which kib is a share
};

inline constexpr std::string_view kMeasured = "measured";
inline constexpr std::string_view kDerived = "derived";
inline constexpr std::string_view kEstimated = "estimated";

// `whole`: what the shares are of.
Columns<Line> line_columns(const char* line, const char* whole);

// A section of what was recorded of tmpfs and segments, if anything was; and the warnings.
Status add_outside(const Context& context, const State& state, std::int64_t inaccessible, Report& report);

}  // namespace memoir::query
