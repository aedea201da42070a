// Answers over a range: series, tiers, differences, coverage.

#include <algorithm>

#include "world/audit/laws.h"

namespace memoir::world {
namespace {

constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::int64_t kFiveMinutesMs = 300'000;

// The part of the recording between two bounds of buckets; empty if there is none.
Words bucket_range(const Truth& truth, std::int64_t width_ms) {
  const std::int64_t first = (truth.ticks.front().wall_ms + width_ms - 1) / width_ms * width_ms;
  const std::int64_t end = truth.ticks.back().wall_ms / width_ms * width_ms;
  return first < end ? Words{"--from", at(first), "--to", at(end - 1)} : Words{};
}

std::map<std::string, const json*> by_group(const json& answer, const char* group) {
  std::map<std::string, const json*> rows;
  for (const json& row : list(answer, "rows")) rows[text(row, group)] = &row;
  return rows;
}

}  // namespace

void series_agree(Audit& audit) {
  const json& top = audit.ask(Words{"top", "--tier", "raw"} + audit.range());
  Words range = audit.range();
  range.resize(4);  // removes --limit
  int asked = 0;
  for (const auto& entry : by_name(top)) {
    const auto& name = entry.first;
    const auto& row = entry.second;
    const bool is_only = std::ranges::count_if(by_name(top), [&](const auto& other) {
                           return number(*other.second, "pid") == number(*row, "pid") &&
                                  number(*other.second, "start_ms") == number(*row, "start_ms");
                         }) == 1;
    if (!is_only || number(*row, "max_kib") == kNone || ++asked % 20 != 1) continue;
    const std::string subject = fmt::format("{}@{}", number(*row, "pid"), number(*row, "start_ms"));
    const json& trend = audit.ask(Words{"trend", subject, "--tier", "raw"} + range);
    audit.check("process", number(trend, "max_kib") == number(*row, "max_kib"), "{}: trend {}, top {}", name,
                number(trend, "max_kib"), number(*row, "max_kib"));
  }
  for (const char* const group : {"category", "identity"}) {
    const auto peaks = by_group(audit.ask(Words{"peaks", "--group", group, "--by", "pss"} + audit.range()), group);
    for (const auto& [name, row] :
         by_group(audit.ask(Words{"top", "--tier", "raw", "--group", group} + audit.range()), group)) {
      const auto peak = peaks.find(name);
      if (number(*row, "max_kib") <= 0) continue;
      audit.check(group, peak != peaks.end() && number(*peak->second, "peak_kib") == number(*row, "max_kib"),
                  "{}: peaks {}, top {}", name, peak == peaks.end() ? "absent" : peak->second->at("peak_kib").dump(),
                  number(*row, "max_kib"));
    }
  }
}

void range_covers_its_ticks(Audit& audit) {
  const auto over = by_name(audit.ask(Words{"top", "--tier", "raw"} + audit.range()));
  for (const TickTruth* const tick : audit.some_ticks(4)) {
    for (const auto& [name, row] : by_name(audit.ask({"top", "--at", at(tick->wall_ms), "--limit", "0"}))) {
      const auto found = over.find(name);
      audit.check("", found != over.end() && number(*found->second, "max_kib") >= number(*row, "pss_kib"),
                  "{}: {} at {}, {} over all", name, number(*row, "pss_kib"), tick->wall_ms,
                  found == over.end() ? "absent" : found->second->at("max_kib").dump());
    }
  }
}

void diff_is_a_difference(Audit& audit) {
  const auto ticks = audit.some_ticks(4);
  if (ticks.size() < 4) return;
  const auto top_at = [&](std::size_t i) {
    return number(part(audit.ask({"top", "--at", at(ticks[i]->wall_ms), "--limit", "0"}), "totals"), "pss_kib");
  };
  const auto change = [&](std::size_t from, std::size_t to) {
    return number(part(audit.ask({"diff", at(ticks[from]->wall_ms), at(ticks[to]->wall_ms), "--limit", "0"}), "totals"),
                  "change_kib");
  };
  audit.check("top", change(0, 2) == top_at(2) - top_at(0), "{} for {} - {}", change(0, 2), top_at(2), top_at(0));
  audit.check("parts", change(0, 2) == change(0, 1) + change(1, 2), "{} for {} + {}", change(0, 2), change(0, 1),
              change(1, 2));
  std::int64_t rows = 0;
  const json& diff = audit.ask({"diff", at(ticks[0]->wall_ms), at(ticks[2]->wall_ms), "--limit", "0"});
  for (const json& row : list(diff, "rows")) rows += number(row, "change_kib");
  audit.check("rows",
              rows + number(part(diff, "totals"), "others_kib") + number(part(diff, "totals"), "short_lived_kib") ==
                  change(0, 2),
              "rows {}, {}", rows, part(diff, "totals").dump());
}

void tiers_agree(Audit& audit) {
  const auto check_tier = [&](const char* tier, std::int64_t width_ms) {
    const Words range = bucket_range(audit.truth(), width_ms);
    if (range.empty()) return;
    const std::int64_t length_ms = std::stoll(range.at(3).substr(1)) + 1 - std::stoll(range.at(1).substr(1));
    for (const char* const by : {"used", "swap"}) {
      const json& raw = audit.ask(Words{"trend", "--by", by, "--tier", "raw"} + range);
      const json& rolled = audit.ask(Words{"trend", "--by", by, "--tier", tier} + range);
      for (const char* const key : {"min_kib", "max_kib", "last_kib", "mean_kib"}) {
        const std::int64_t error = std::string(key) == "mean_kib" ? 2 : 0;
        audit.check("machine", std::abs(number(raw, key) - number(rolled, key)) <= error, "{} {} by {}: raw {}, {} {}",
                    range.at(1), key, by, number(raw, key), tier, number(rolled, key));
      }
    }
    for (const char* const group : {"category", "identity"}) {
      const Words words = Words{"top", "--group", group, "--limit", "0"} + range;
      const auto rolled = by_group(audit.ask(words + Words{"--tier", tier}), group);
      for (const auto& [name, row] : by_group(audit.ask(words + Words{"--tier", "raw"}), group)) {
        if (number(*row, "mean_kib") <= 0) continue;
        const auto found = rolled.find(name);
        // Rows younger than TierShape::group_age_ms have no hourly bucket.
        const std::int64_t known_ms = found == rolled.end() ? 0 : number(*found->second, "known_ms");
        if (width_ms == kHourMs && std::abs(number(*row, "known_ms") - known_ms) > 2'000) continue;
        // Times of buckets are in seconds: a row's begin and end may each be wrong by one.
        const std::int64_t error_kib = 2 + 2'000 * number(*row, "max_kib") / length_ms;
        audit.check("groups",
                    found != rolled.end() && number(*row, "max_kib") == number(*found->second, "max_kib") &&
                        std::abs(number(*row, "mean_kib") - number(*found->second, "mean_kib")) <= error_kib,
                    "{} {}: raw {}, {} {}", range.at(1), name, row->dump(), tier,
                    found == rolled.end() ? "absent" : found->second->dump());
      }
    }
  };
  check_tier("5min", kFiveMinutesMs);
  check_tier("hour", kHourMs);
}

void summary_is_true(Audit& audit) {
  const Truth& truth = audit.truth();
  const std::int64_t used_kib = std::ranges::max(truth.ticks, {}, &TickTruth::used_kib).used_kib;
  const std::int64_t swap_kib = std::ranges::max(truth.ticks, {}, &TickTruth::swap_kib).swap_kib;
  const json& summary = audit.summary();
  if (summary.is_null()) return;
  // A scan between two ticks may have observed a higher value.
  std::int64_t peak_kib = kNone;
  for (const json& row : list(audit.ask(Words{"peaks"} + audit.range()), "machine")) {
    if (text(row, "metric") == "used") peak_kib = number(row, "peak_kib");
  }
  audit.check("world", peak_kib >= used_kib, "peaks {}, truly {}", peak_kib, used_kib);
  audit.check("summary", number(summary, "used_max_kib") == peak_kib, "summary {}, peaks {}",
              number(summary, "used_max_kib"), peak_kib);
  const json& trend = audit.ask({"trend", "--by", "used"});
  audit.check("trend", number(trend, "max_kib") == peak_kib, "trend {}, peaks {}", number(trend, "max_kib"), peak_kib);
  audit.check("swap", number(summary, "swap_max_kib") == swap_kib, "summary {}, truly {}",
              number(summary, "swap_max_kib"), swap_kib);
}

void wider_ranges_have_higher_peaks(Audit& audit) {
  const auto ticks = audit.some_ticks(4);
  if (ticks.size() < 4) return;
  const auto all_time = by_name(audit.ask({"peaks", "--limit", "0"}));
  const Words inner{"peaks", "--limit", "0", "--from", at(ticks[1]->wall_ms), "--to", at(ticks[2]->wall_ms)};
  for (const auto& [name, row] : by_name(audit.ask(inner))) {
    const auto found = all_time.find(name);
    audit.check("", found != all_time.end() && number(*found->second, "peak_kib") >= number(*row, "peak_kib"),
                "{}: {} in a part, {} of all time", name, number(*row, "peak_kib"),
                found == all_time.end() ? "absent" : found->second->at("peak_kib").dump());
  }
  const json& all = audit.ask({"top", "--at", at(ticks[1]->wall_ms), "--limit", "0"});
  const json& first = audit.ask({"top", "--at", at(ticks[1]->wall_ms), "--limit", "3"});
  for (std::size_t i = 0; i < list(first, "rows").size(); ++i) {
    audit.check("limit", list(first, "rows")[i] == list(all, "rows").at(i), "row {}: {}", i,
                list(first, "rows")[i].dump());
  }
}

void recorded_and_gaps_make_the_range(Audit& audit) {
  const Truth& truth = audit.truth();
  const auto ticks = audit.some_ticks(3);
  const Words inner{"--from", at(ticks.front()->wall_ms - 3'000), "--to", at(ticks.back()->wall_ms + 5'000)};
  for (const Words& words : {Words{"top"} + audit.range(), Words{"peaks"} + audit.range(), Words{"trend"} + inner,
                             Words{"exits", "--limit", "0"} + inner, Words{"events", "--limit", "0"} + inner,
                             Words{"processes", "--limit", "0"} + inner}) {
    const json& answer = audit.ask(words);
    if (!answer.contains("range") || !answer.contains("coverage")) continue;
    const std::int64_t from = number(part(answer, "range"), "from_ms"), to = number(part(answer, "range"), "to_ms");
    std::int64_t gaps = 0, before = from;
    for (const json& gap : list(part(answer, "coverage"), "gaps")) {
      gaps += number(gap, "to_ms") - number(gap, "from_ms");
      audit.check("order", number(gap, "from_ms") >= before && number(gap, "to_ms") <= to, "{}: {}", words[0],
                  gap.dump());
      before = number(gap, "to_ms");
      const bool has_tick = std::ranges::any_of(truth.ticks, [&](const TickTruth& tick) {
        return number(gap, "from_ms") < tick.wall_ms && tick.wall_ms < number(gap, "to_ms");
      });
      audit.check("world", !has_tick, "{}: a tick within the gap {}", words[0], gap.dump());
    }
    const std::int64_t recorded = number(part(answer, "coverage"), "recorded_ms");
    audit.check("sum", recorded + gaps == to - from, "{}: {} recorded, {} in gaps, {} in all", fmt::join(words, " "),
                recorded, gaps, to - from);
  }
}

}  // namespace memoir::world
