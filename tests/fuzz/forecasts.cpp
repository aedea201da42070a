#include "fuzz/require.h"
#include "fuzz/targets.h"
#include "recorder/alert/forecast.h"

// The text is read as the output of `memoir leaks --format json`.
void memoir::fuzz::forecasts(std::string_view text) {
  const auto forecasts = parse_forecasts(text);
  if (!forecasts) return require_shown(forecasts.error());
  for (const Forecast& forecast : *forecasts) {
    require(forecast.subject.find('\n') != std::string::npos, "a subject names the metric");
    require(to_utf8(forecast.title) == forecast.title, "a title is UTF-8");
  }
}
