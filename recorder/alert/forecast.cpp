#include "recorder/alert/forecast.h"

#include <cmath>

#include <nlohmann/json.hpp>

namespace memoir {
namespace {

using nlohmann::json;

std::string text_of(const json& row, const char* key) {
  const auto found = row.find(key);
  return found != row.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<std::int64_t> number_of(const json& row, const char* key) {
  const auto found = row.find(key);
  return found != row.end() && found->is_number() ? std::optional(std::llround(found->get<double>())) : std::nullopt;
}

}  // namespace

Result<std::vector<Forecast>> parse_forecasts(std::string_view text) {
  const json answer = json::parse(text, nullptr, false);
  const json* rows = answer.is_object() && answer.contains("rows") ? &answer["rows"] : nullptr;
  if (rows == nullptr || !rows->is_array()) return malformed("memoir leaks printed something unexpected");
  std::vector<Forecast> forecasts;
  for (const json& row : *rows) {
    if (!row.is_object()) continue;
    const auto leak = row.find("leak");
    if (leak == row.end() || *leak != true || number_of(row, "ended_ms")) continue;
    const auto confirmed = row.find("confirmed");
    std::string title = text_of(row, "title");
    const std::string metric = text_of(row, "metric");
    const bool is_memory = metric == "anon+swap" || (title == "machine" && metric != "zombies");
    if (title == "machine") title += " (" + metric + ")";
    forecasts.push_back({text_of(row, "subject") + '\n' + text_of(row, "unit") + '\n' + metric, std::move(title),
                         text_of(row, "limit"), number_of(row, "runs_out_in_ms"),
                         number_of(row, "confidence").value_or(0), confirmed != row.end() && *confirmed == true,
                         is_memory ? number_of(row, "slope_kib_per_day") : std::nullopt});
  }
  return forecasts;
}

}  // namespace memoir
