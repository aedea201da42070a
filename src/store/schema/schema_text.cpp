#include "store/schema/schema_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <map>
#include <vector>

#include "model/metric.h"
#include "store/stored_fields.h"
#include "store/tiers.h"

namespace memoir {
namespace {

using Texts = std::map<std::string, std::string, std::less<>>;
using Column = std::function<std::string(ProcessField)>;

std::string joined(const std::vector<std::string>& parts, const char* separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

// Joins columns or rows by commas, several in a line.
std::string list(const std::vector<std::string>& parts) {
  constexpr std::size_t width = 120;
  std::string text;
  std::size_t line = 0;
  for (const std::string& part : parts) {
    const bool fits = text.size() - line + part.size() + 3 <= width;
    if (!text.empty() && fits) text += ", ";
    if (!text.empty() && !fits) {
      text += ",\n";
      line = text.size();
      text += "  ";
    }
    text += part;
  }
  return text;
}

// Returns the SQL of a rule. `column` returns the SQL of a field.
template <typename E, typename GetColumn>
std::string rule_sql(const FieldRule<E>& rule, const GetColumn& column) {
  using How = typename FieldRule<E>::How;
  std::vector<std::string> of;
  for (const E field : rule.of) of.push_back(column(field));
  const auto sum = joined(of, " + ");
  std::string less = rule.less ? column(*rule.less) : std::string();
  if (rule.less_known) less = fmt::format("({} + COALESCE({}, 0))", less, column(*rule.less_known));
  std::string sql = sum;
  if (rule.how == How::sum && rule.less) sql = fmt::format("{} - {}", sum, less);
  if (rule.how == How::remainder) sql = fmt::format("CASE WHEN {0} >= {1} THEN {0} - {1} END", sum, less);
  if (rule.how == How::first) sql = fmt::format("COALESCE({})", joined(of, ", "));
  if (rule.how == How::largest) {
    // SQLite's MAX() is NULL if one argument is NULL.
    std::vector<std::string> present;
    for (std::size_t i = 0; i < of.size(); ++i) {
      present.push_back(fmt::format("COALESCE({})", joined(of, ", ")));
      std::rotate(of.begin(), of.begin() + 1, of.end());
    }
    sql = fmt::format("MAX({})", joined(present, ", "));
  }
  return rule.only_with ? fmt::format("CASE WHEN {} IS NOT NULL THEN {} END", column(*rule.only_with), sql) : sql;
}

std::string column_of(ProcessField field) {
  return info_of(field).column;
}

// Returns a field's column in the views, which join process_sample_full AS s and process_detail AS d.
std::string joined_column(ProcessField field) {
  return fmt::format("{}.{}", info_of(field).storage == ProcessStorage::sample ? 's' : 'd', info_of(field).column);
}

std::string joined_machine_column(MachineField field) {
  const MachineFieldInfo& info = kMachineFields[static_cast<std::size_t>(field)];
  return fmt::format("{}.{}", info.storage == MachineStorage::sample ? 's' : 'd', info.column);
}

std::string stored_or(std::string_view column, const std::string& derived) {
  return fmt::format("NULLIF(COALESCE({}, {}), {})", column, derived, kNotKnown);
}

std::string derived_sql(const DerivedField& of, const Column& column, std::string_view prefix) {
  std::string sql = rule_sql(of.rule, column);
  if (of.when_exact)
    sql = fmt::format("CASE source WHEN {} THEN {} ELSE {} END", static_cast<int>(Source::exact),
                      rule_sql(*of.when_exact, column), sql);
  return fmt::format("{} AS {}", stored_or(fmt::format("{}{}", prefix, column_of(of.field)), sql), column_of(of.field));
}

// Returns the query of all values of process_sample. The innermost subquery computes the columns that need no derived
// column. Each query around it computes those that need its results.
std::string process_sample_full() {
  std::vector<const DerivedField*> due;
  for (const DerivedField& of : kDerivedFields) {
    if (info_of(of.field).storage == ProcessStorage::sample) due.push_back(&of);
  }
  std::string from = "process_sample";
  while (!due.empty()) {
    const auto waits = [&](const DerivedField* of) {
      return std::ranges::any_of(due, [&](const DerivedField* other) { return of->needs(other->field); });
    };
    std::vector<const DerivedField*> later;
    std::ranges::copy_if(due, std::back_inserter(later), waits);
    std::vector<std::string> columns{"tick_id, process_id, source, read_age_ms"};
    for (const ProcessField field : kHotProcessFields) {
      const auto made = std::ranges::find(due, field, &DerivedField::field);
      const bool now = made != due.end() && !waits(*made);
      columns.push_back(now ? derived_sql(**made, column_of, "") : column_of(field));
    }
    from = fmt::format("(SELECT {}\nFROM {})", list(columns), from);
    due = later;
  }
  return from.substr(1, from.size() - 2);
}

// Returns the expressions for the values of process_state AS s and process_rare AS r.
std::string process_detail_columns() {
  std::vector<std::string> columns;
  for (const ProcessField field : kColdProcessFields) {
    const std::string column = column_of(field);
    const auto* const derived = std::ranges::find(kDerivedFields, field, &DerivedField::field);
    if (info_of(field).storage == ProcessStorage::rare) {
      columns.push_back(
          fmt::format("IIF(r.tick_id IS NULL, s.{0} * 0, r.{1}) AS {1}", column_of(known_by(field)), column));
    } else if (derived != kDerivedFields.end()) {
      columns.push_back(derived_sql(
          *derived, [](ProcessField part) { return "s." + column_of(part); }, "s."));
    } else {
      columns.push_back("s." + column);
    }
  }
  return list(columns);
}

std::string process_columns() {
  std::vector<std::string> columns;
  columns.reserve(kProcessFields.size());
  for (const ProcessFieldInfo& info : kProcessFields) columns.push_back(joined_column(info.field));
  return list(columns);
}

std::string machine_columns() {
  std::vector<std::string> columns;
  for (const MachineFieldInfo& info : kMachineFields) {
    constexpr std::string_view share = "_bp";
    const std::string_view name = info.column;
    std::string column = joined_machine_column(info.field);
    if (name.ends_with(share))
      column += fmt::format(" / 100.0 AS {}_percent", name.substr(0, name.size() - share.size()));
    columns.push_back(std::move(column));
  }
  return list(columns);
}

std::string metric_column(Metric metric) {
  return fmt::format("{} AS {}", rule_sql(info_of(metric).rule, joined_column), info_of(metric).column);
}

// Returns the expressions for the last value, min, mean and max of each rolled-up metric, from rollup_TIER AS r and
// swap_TIER AS w.
std::string memory_columns() {
  const std::string first(to_string(kRolledMetrics.front()));
  std::vector<std::string> columns;
  for (const Metric metric : kRolledMetrics) {
    const MetricInfo& info = info_of(metric);
    const bool apart = info.rollup == RollupForm::apart;
    const auto difference = [&](std::string_view part) {
      return info.rollup == RollupForm::like_first
                 ? fmt::format("COALESCE(r.{0}_{2}, r.{1}_{2}, 0)", info.name, first, part)
                 : fmt::format("{}.{}_{}", apart ? 'w' : 'r', info.name, part);
    };
    const auto add = [&](std::string_view suffix, const std::string& value) {
      const std::string sql =
          apart ? fmt::format("IIF(w.buckets IS NULL, r.{}_kib * 0, {})", to_string(*info.known_by), value) : value;
      columns.push_back(fmt::format("{} AS {}{}", sql, info.name, suffix));
    };
    const std::string last = fmt::format("{}.{}_kib", apart ? 'w' : 'r', info.name);
    add("_kib", last);
    add("_min_kib", fmt::format("{} - {}", last, difference("low")));
    add("_mean_kib", fmt::format("{} + {}", last, difference("mean")));
    add("_max_kib", fmt::format("{} + {}", last, difference("high")));
  }
  return list(columns);
}

// Returns the rows of the table metric.
std::string metric_rows() {
  std::vector<std::string> rows;
  for (const MetricInfo& info : kMetricInfos) {
    if (info.number == kNoNumber) continue;
    rows.push_back(fmt::format("({}, '{}', '{}', {:d}, {:d})", info.number, info.name.empty() ? info.column : info.name,
                               info.column, info.marked != SubjectKinds{}, info.lowest));
  }
  return list(rows);
}

std::string mapping_column(const ProcessRule& rule, ProcessField field) {
  const auto column = [](ProcessField part) { return "s." + column_of(part); };
  return fmt::format("{} AS {}", stored_or("s." + column_of(field), rule_sql(rule, column)), column_of(field));
}

const Texts& texts() {
  static const Texts all{
      {"metric_rows", metric_rows()},
      {"process_sample_full", process_sample_full()},
      {"process_detail_columns", process_detail_columns()},
      {"process_columns", process_columns()},
      {"machine_columns", machine_columns()},
      {"memory_columns", memory_columns()},
      {"uss", metric_column(Metric::uss)},
      {"high_water", rule_sql(info_of(Metric::hwm).rule, joined_column)},
      // Time of the reading that the valid row of process_sample is from, or of a later reading that found the same
      // values.
      {"read_ms", "(t.wall_ms - t.boot_ms + k.boot_ms - IIF(h.reading_tick_id > h.sample_tick_id, 0, s.read_age_ms))"},
      {"used", rule_sql(kUsedRule, joined_machine_column)},
      {"swap_used", rule_sql(kSwapUsedRule, joined_machine_column)},
      {"mapping_rss", mapping_column(kMappingRss, ProcessField::rss)},
      {"mapping_pss", mapping_column(kMappingPss, ProcessField::pss)},
      {"mapping_uss", rule_sql(kUssRule, [](ProcessField part) { return "s." + column_of(part); })},
  };
  return all;
}

// Returns the expression for the time of a row's first bucket.
std::string start_sql(const TierShape& shape) {
  const std::string block = fmt::format("r.{} * {}", shape.block, shape.block_ms());
  return shape.slots == 1 ? block : fmt::format("{} + r.slot * {}", block, shape.width_ms);
}

Texts texts_of(const TierShape& shape) {
  const std::string from = start_sql(shape);
  const bool peak = shape.keeps_peak_times;
  return {
      {"tier", shape.name},
      {"block", shape.block},
      {"width", std::to_string(shape.width_ms)},
      {"from", from},
      {"peak_column", peak ? "\n  pss_high_after_ms INTEGER,               -- when PSS of a group was first highest, "
                             "from the row's start"
                           : ""},
      {"pss_max_at",
       peak ? fmt::format(
                  ",\n  {0} + r.pss_high_after_ms AS pss_max_at_ms, utc({0} + r.pss_high_after_ms) AS pss_max_at_utc",
                  from)
            : ""}};
}

Result<std::string> filled_in(std::string_view text, const Texts& more) {
  std::string filled;
  for (;;) {
    const std::size_t start = text.find('@');
    filled += text.substr(0, start);
    if (start == std::string_view::npos) return filled;
    const std::size_t end = text.find('@', start + 1);
    const std::string_view name = text.substr(start + 1, end - start - 1);
    const auto own = more.find(name);
    const auto general = texts().find(name);
    if (end == std::string_view::npos || (own == more.end() && general == texts().end()))
      return Error{ErrorKind::malformed, fmt::format("schema: '@{}@' is unknown", name)};
    filled += own != more.end() ? own->second : general->second;
    text.remove_prefix(end + 1);
  }
}

// Replaces utc(x) by the expression for a time as text (views.sql).
Result<std::string> with_times_as_text(std::string_view text) {
  constexpr std::string_view call = "utc(";
  std::string filled;
  for (;;) {
    const std::size_t start = text.find(call);
    filled += text.substr(0, start);
    if (start == std::string_view::npos) return filled;
    std::size_t end = start + call.size();
    for (int open = 1; open > 0 && end < text.size(); ++end) open += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
    if (text[end - 1] != ')') return Error{ErrorKind::malformed, "schema: utc() is not closed"};
    filled += fmt::format("strftime('%Y-%m-%dT%H:%M:%fZ', ({}) / 1000.0, 'unixepoch')",
                          text.substr(start + call.size(), end - start - call.size() - 1));
    text.remove_prefix(end);
  }
}

Result<std::string> repeated_for_tiers(std::string_view text) {
  constexpr std::string_view begin = "@for each tier@\n";
  constexpr std::string_view end = "@end@\n";
  const std::size_t first = text.find(begin);
  if (first == std::string_view::npos) return filled_in(text, {});
  const std::size_t last = text.find(end, first);
  if (last == std::string_view::npos) return Error{ErrorKind::malformed, "schema: '@end@' is missing"};
  std::string filled = TRY(filled_in(text.substr(0, first), {}));
  const std::string_view of_tier = text.substr(first + begin.size(), last - first - begin.size());
  for (const TierShape& shape : kRollupTiers) filled += TRY(filled_in(of_tier, texts_of(shape)));
  filled += TRY(filled_in(text.substr(last + end.size()), {}));
  return filled;
}

}  // namespace

Result<std::string> schema_text(std::string_view text) {
  const std::string filled = TRY(repeated_for_tiers(text));
  return with_times_as_text(filled);
}

}  // namespace memoir
