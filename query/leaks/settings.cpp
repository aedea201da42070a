
#include "config/config.h"
#include "query/leaks/judged_leaks.h"

namespace memoir::query {

namespace {

// The default file may be missing or unreadable. A file that cannot be parsed causes a warning.
std::chrono::milliseconds usual_hour(std::vector<std::string>& warnings) {
  const Result<Config> config = load_config(default_config_path());
  if (config) return config->leaks_hour;
  if (config.error().kind == ErrorKind::malformed) warnings.push_back(config.error().message);
  return Config().leaks_hour;
}

}  // namespace

Result<LeakSettings> leak_settings(const Options& options, std::vector<std::string>& warnings) {
  if (options.hour) {
    const auto hour = parse_duration(*options.hour);
    if (!hour) return malformed("--hour: " + hour.error().message);
    if (*hour < kMinLeaksHour) return malformed("--hour: must be at least 10 ms");
    return LeakSettings{hour->count()};
  }
  if (!options.config) return LeakSettings{usual_hour(warnings).count()};
  const Result<Config> config = load_config(*options.config);
  // not_found would be reported as "nothing recorded".
  if (!config && config.error().kind == ErrorKind::not_found) return Error{ErrorKind::io, config.error().message};
  if (!config) return config.error();
  return LeakSettings{config->leaks_hour.count()};
}

}  // namespace memoir::query
