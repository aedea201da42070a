// Values of rows at a tick, and their sources.

#include <algorithm>

#include "world/audit/laws.h"

namespace memoir::world {
namespace {

constexpr std::size_t kRowTicks = 8;

// Visits the rows of top at some ticks, with the truth at that time. Processes with an odd line at the tick are
// omitted.
template <typename Visit>
void each_row(Audit& audit, Visit visit) {
  for (const TickTruth* const tick : audit.some_ticks(kRowTicks)) {
    std::map<std::int32_t, int> serials;
    for (const auto& [serial, sample] : tick->processes) serials[audit.truth().lives.at(serial).pid] = serial;
    for (const json& row : list(audit.ask({"top", "--at", at(tick->wall_ms), "--limit", "0"}), "rows")) {
      const auto serial = serials.find(static_cast<std::int32_t>(number(row, "pid")));
      if (serial == serials.end() || (tick->odd && tick->odd->serial == serial->second)) continue;
      visit(row, *tick, serial->second);
    }
  }
}

std::int64_t value(const TickTruth& tick, int serial, ProcessField field) {
  return tick.processes.at(serial).memory.or_zero(field);
}

}  // namespace

void exact_values_are_true(Audit& audit) {
  each_row(audit, [&](const json& row, const TickTruth& tick, int serial) {
    audit.check("RSS", number(row, "rss_kib") == value(tick, serial, ProcessField::rss), "{} at {}: {}, truly {}",
                name_of(row), tick.wall_ms, number(row, "rss_kib"), value(tick, serial, ProcessField::rss));
    if (text(row, "source") != "exact") return;
    const TickTruth* const read = audit.tick_at(tick.wall_ms - number(row, "age_ms"));
    const bool is_known = read != nullptr && read->processes.contains(serial);
    audit.check("PSS", is_known && number(row, "pss_kib") == value(*read, serial, ProcessField::pss),
                "{} at {}: {} of age {}, truly {}", name_of(row), tick.wall_ms, number(row, "pss_kib"),
                number(row, "age_ms"), is_known ? value(*read, serial, ProcessField::pss) : kNone);
    audit.check("age", number(row, "age_ms") == 0, "{} at {}: exact, {} ms old", name_of(row), tick.wall_ms,
                number(row, "age_ms"));
  });
}

void held_values_are_true(Audit& audit) {
  each_row(audit, [&](const json& row, const TickTruth& tick, int serial) {
    if (text(row, "source") != "held") return;
    const std::int64_t pss_kib = value(tick, serial, ProcessField::pss);
    const std::int64_t error_kib = std::abs(number(row, "pss_kib") - pss_kib);
    audit.check("", error_kib <= slight_kib(number(row, "pss_kib")), "{} at {}: {}, truly {}", name_of(row),
                tick.wall_ms, number(row, "pss_kib"), pss_kib);
  });
}

void bounds_hold(Audit& audit) {
  each_row(audit, [&](const json& row, const TickTruth& tick, int serial) {
    const std::string source = text(row, "source");
    const bool has_bounds = number(row, "pss_low_kib") != kNone && number(row, "pss_high_kib") != kNone;
    // Without an estimated row the bounds are omitted, and law 32 allows held values a small error.
    const std::int64_t slack_kib = source == "held" ? slight_kib(number(row, "pss_kib")) : 0;
    const std::int64_t low = has_bounds ? number(row, "pss_low_kib") : number(row, "pss_kib") - slack_kib;
    const std::int64_t high = has_bounds ? number(row, "pss_high_kib") : number(row, "pss_kib") + slack_kib;
    if (!has_bounds && source != "exact" && source != "held") return;
    const std::int64_t pss_kib = value(tick, serial, ProcessField::pss);
    audit.check(source, low <= pss_kib && pss_kib <= high, "{} at {}: {} to {}, truly {}", name_of(row), tick.wall_ms,
                low, high, pss_kib);
  });
}

void swap_is_true(Audit& audit) {
  each_row(audit, [&](const json& row, const TickTruth& tick, int serial) {
    if (number(row, "swap_kib") == kNone) return;
    audit.check(text(row, "source"), number(row, "swap_kib") == value(tick, serial, ProcessField::swap),
                "{} at {}: {}, truly {}", name_of(row), tick.wall_ms, number(row, "swap_kib"),
                value(tick, serial, ProcessField::swap));
  });
}

void sizes_are_ordered(Audit& audit) {
  const auto peaks = by_name(audit.ask({"peaks", "--limit", "0"}));
  each_row(audit, [&](const json& row, const TickTruth& tick, int) {
    const std::int64_t uss = number(row, "uss_kib"), pss = number(row, "pss_kib"), rss = number(row, "rss_kib"),
                       hwm = number(row, "hwm_kib");
    audit.check("row", (uss == kNone || uss <= pss) && pss <= rss && (hwm == kNone || rss <= hwm),
                "{} at {}: USS {}, PSS {}, RSS {}, high-water mark {}", name_of(row), tick.wall_ms, uss, pss, rss, hwm);
    const auto peak = peaks.find(name_of(row));
    audit.check("peaks", peak != peaks.end() && number(*peak->second, "peak_kib") >= std::max(rss, hwm),
                "{} at {}: {}, in peaks {}", name_of(row), tick.wall_ms, std::max(rss, hwm),
                peak == peaks.end() ? "absent" : peak->second->at("peak_kib").dump());
  });
}

}  // namespace memoir::world
