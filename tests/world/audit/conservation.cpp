// Sums: rows and totals, trees, the machine's memory.

#include "world/audit/laws.h"

namespace memoir::world {
namespace {

constexpr std::size_t kSampledTicks = 4;

std::map<std::string, std::int64_t> sums_of(const json& rows) {
  std::map<std::string, std::int64_t> sums;
  for (const json& row : rows) {
    for (const char* const key : {"pss_kib", "rss_kib", "uss_kib", "swap_kib", "anon_kib", "swap_pss_kib"}) {
      if (number(row, key) != kNone) sums[key] += number(row, key);
    }
  }
  return sums;
}

Words top_at(const TickTruth& tick) {
  return {"top", "--at", at(tick.wall_ms), "--limit", "0"};
}

}  // namespace

void rows_add_up(Audit& audit) {
  for (const TickTruth* const tick : audit.some_ticks(kSampledTicks)) {
    const json& totals = part(audit.ask(top_at(*tick)), "totals");
    const auto check_rows = [&](const char* clause, const Words& words) {
      for (const auto& [key, sum] : sums_of(list(audit.ask(words), "rows"))) {
        audit.check(clause, sum == number(totals, key.c_str()), "{} at {}: rows have {} {}, totals {}", words[0],
                    tick->wall_ms, sum, key, number(totals, key.c_str()));
      }
    };
    check_rows("processes", top_at(*tick));
    if (tick != audit.some_ticks(kSampledTicks).back()) continue;
    for (const char* const group : {"category", "identity", "cgroup", "user"}) {
      check_rows("groups", top_at(*tick) + Words{"--group", group});
    }
    check_rows("categories", {"categories", "--at", at(tick->wall_ms), "--limit", "0"});
    const json& cut = audit.ask({"top", "--at", at(tick->wall_ms), "--limit", "3"});
    const std::int64_t shown = sums_of(list(cut, "rows"))["pss_kib"];
    audit.check("cut rows", shown + number(part(cut, "totals"), "cut_kib") == number(totals, "pss_kib"),
                "top at {}: {} shown, {} cut, {} in all", tick->wall_ms, shown, number(part(cut, "totals"), "cut_kib"),
                number(totals, "pss_kib"));
  }
}

void totals_agree(Audit& audit) {
  for (const TickTruth* const tick : audit.some_ticks(kSampledTicks)) {
    const std::int64_t pss_kib = number(part(audit.ask(top_at(*tick)), "totals"), "pss_kib");
    std::int64_t roots_kib = 0;
    for (const json& row : list(audit.ask({"tree", "--at", at(tick->wall_ms), "--limit", "0"}), "rows")) {
      if (number(row, "depth") == 0) roots_kib += number(row, "subtree_pss_kib");
    }
    audit.check("tree", roots_kib == pss_kib, "at {}: tree {}, top {}", tick->wall_ms, roots_kib, pss_kib);
    for (const json& part : list(audit.ask({"memory", "--at", at(tick->wall_ms)}), "processes")) {
      if (text(part, "name") != "pss") continue;
      audit.check("memory", number(part, "kib") == pss_kib, "at {}: memory {}, top {}", tick->wall_ms,
                  number(part, "kib"), pss_kib);
    }
  }
}

namespace {

// Returns the sum over the node and its descendants.
std::int64_t check_node(Audit& audit, const json& node, const char* own, const char* subtree) {
  std::int64_t sum = std::max<std::int64_t>(0, number(node, own));
  for (const json& child : list(node, "children")) sum += check_node(audit, child, own, subtree);
  audit.check("", number(node, subtree) == sum, "{}: {} is {}, the sum is {}", name_of(node), subtree,
              number(node, subtree), sum);
  return sum;
}

}  // namespace

void tree_adds_up(Audit& audit) {
  for (const TickTruth* const tick : audit.some_ticks(kSampledTicks)) {
    for (const json& row : list(audit.ask({"tree", "--at", at(tick->wall_ms), "--limit", "0"}), "rows")) {
      if (number(row, "depth") != 0) continue;
      check_node(audit, row, "pss_kib", "subtree_pss_kib");
      check_node(audit, row, "rss_kib", "subtree_rss_kib");
    }
  }
}

void machine_is_meminfo(Audit& audit) {
  for (const TickTruth* const tick : audit.some_ticks(kSampledTicks)) {
    const json& totals = part(audit.ask(top_at(*tick)), "totals");
    const std::map<std::string, std::int64_t> values{{"machine_total_kib", tick->meminfo.at("MemTotal")},
                                                     {"machine_available_kib", tick->meminfo.at("MemAvailable")},
                                                     {"machine_used_kib", tick->used_kib},
                                                     {"machine_swap_used_kib", tick->swap_kib}};
    for (const auto& [key, kib] : values) {
      audit.check("", number(totals, key.c_str()) == kib, "at {}: {} is {}, not {}", tick->wall_ms, key, kib,
                  number(totals, key.c_str()));
    }
  }
}

void means_add_up(Audit& audit) {
  for (const char* const tier : {"raw", "5min"}) {
    std::int64_t all_kib = kNone;
    for (const char* const group : {"category", "identity", "user", "process"}) {
      const json& top = audit.ask(Words{"top", "--tier", tier, "--group", group} + audit.range());
      const json& totals = part(top, "totals");
      std::int64_t sum_kib = 0;
      for (const json& row : list(top, "rows")) sum_kib += std::max<std::int64_t>(0, number(row, "mean_kib"));
      // Each row is rounded, and the mean of each of its buckets is.
      const auto error_kib = static_cast<std::int64_t>(list(top, "rows").size()) + 1;
      const std::int64_t mean_kib = number(totals, "mean_kib");
      audit.check("", std::abs(sum_kib - mean_kib) <= error_kib, "{} {}: {} in rows, {} in all", tier, group, sum_kib,
                  mean_kib);
      // Processes younger than a bucket have rollups only in their groups.
      const std::int64_t with_others_kib = mean_kib + std::max<std::int64_t>(0, number(totals, "short_lived_mean_kib"));
      if (all_kib == kNone) all_kib = with_others_kib;
      audit.check("groups", std::abs(with_others_kib - all_kib) <= error_kib, "{} {}: {}, by category {}", tier, group,
                  with_others_kib, all_kib);
    }
  }
}

}  // namespace memoir::world
