
#include "config/config.h"
#include "query/leaks/judged_leaks.h"

namespace memoir::query {

namespace {

// A file that nobody named may be missing, or not ours to read; one that cannot be understood is worth a word.
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
    if (*hour < kLeastLeaksHour) return malformed("--hour: less than 10 ms has nothing to judge");
    return LeakSettings{hour->count()};
  }
  if (!options.config) return LeakSettings{usual_hour(warnings).count()};
  const Result<Config> config = load_config(*options.config);
  // That the file is not there says nothing of what is recorded.
  if (!config && config.error().kind == ErrorKind::gone) return Error{ErrorKind::io, config.error().message};
  if (!config) return config.error();
  return LeakSettings{config->leaks_hour.count()};
}

}  // namespace memoir::query
