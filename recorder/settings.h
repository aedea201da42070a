#pragma once

// Settings of memoird: the configuration file overridden by the command line, and the rules made from both.

#include <string>

#include "base/log.h"
#include "base/result.h"
#include "collect/category/categoriser.h"
#include "collect/mappings/plan.h"
#include "collect/redact/redactor.h"
#include "config/config.h"
#include "recorder/options.h"
#include "store/writer.h"

namespace memoir {

struct Settings {
  Config config;
  std::string config_path;
  bool config_found = false;  // a missing file is acceptable unless the user named it
};

Result<Settings> load_settings(const RecorderOptions& options);

struct Rules {
  Categoriser categoriser;
  Redactor redactor;
};

// An error names the configuration file.
Result<Rules> make_rules(const Settings& settings);

// Returns the effective configuration, including the built-in rules.
Config spelled_out(const Config& config);

// Returns whether both configurations classify and redact alike, regardless of the rules' line numbers.
bool same_rules(const Config& a, const Config& b);

LogLevel to_log_level(const Config& config);
Durability durability(const Config& config);
Retention retention(const Config& config);
MappingLimits mapping_limits(const Config& config);

// Creates the folder of the default database. Returns an error if the folder of another database does not exist.
Status prepare_folder(const Config& config);

}  // namespace memoir
