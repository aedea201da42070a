#pragma once

// Turns what was read of a process into what is known of it: redacted command, category, names of users, and the exec
// count that an earlier run of the recorder left off at.

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "collect/category/categoriser.h"
#include "collect/category/totals.h"
#include "collect/collector.h"
#include "collect/process/command_reader.h"
#include "collect/process/name_budget.h"
#include "collect/process/process_entry.h"
#include "collect/process/seeds.h"
#include "model/tick.h"

namespace memoir {

class Identifier {
 public:
  Identifier(Categoriser categoriser, Redactor redactor, const CollectorOptions& options);

  void seed(const std::vector<KnownProcess>& known) { seeds_.add(known); }
  void forget_seeds() { seeds_.clear(); }
  // Names of users are asked for again too.
  void set_rules(Categoriser categoriser, Redactor redactor);

  void set_store_bytes(std::int64_t bytes) { names_.resize(bytes); }

  // `entry.info` with what has been read since: by `entry.identity` if that is done and valid, and by status. The key,
  // the start and the parent stay as they are.
  ProcessInfo describe(const ProcessEntry& entry) const;
  // Sets the key, the start and the parent of a process that is seen for the first time.
  void begin(const ProcessEntry& entry, const Moment& now, ProcessInfo& info) const;
  // Whether `info` may be told as it is; else it is cut to what may be.
  bool fit(ProcessInfo& info, const ProcessEntry& entry, std::int64_t boot_ms) {
    return names_.fit(info, entry.info, boot_ms);
  }
  NameBudget& names() { return names_; }
  const std::string& category(const ProcessInfo& info) const { return categoriser_.category(info); }
  const std::shared_ptr<CommandReader>& commands() const { return commands_; }
  static bool knows_command(const ProcessEntry& entry) {
    return !entry.fresh && !entry.info.command.ends_with(kCommandNotRead);
  }

  // A job to find the user's name, or nothing: it is known, or being asked for, or an earlier question is stuck.
  std::shared_ptr<UserJob> ask_user(std::uint32_t uid);
  // After the jobs of a tick have been run.
  void take_users();
  bool knows_user(std::uint32_t uid) const { return users_.contains(uid); }
  std::string user_name(std::uint32_t uid) const;  // the number, where it is not known

 private:
  const CollectorOptions options_;
  NameBudget names_;
  Categoriser categoriser_;
  std::shared_ptr<CommandReader> commands_;  // with the jobs that read
  Seeds seeds_;
  std::unordered_map<std::uint32_t, std::string> users_;
  std::vector<std::shared_ptr<UserJob>> asked_;
};

}  // namespace memoir
