#pragma once

// Derives facts about a process from its files: redacted command, category, user name, and the exec count continued
// from an earlier run of the recorder.

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

class ProcessResolver {
 public:
  ProcessResolver(Categoriser categoriser, Redactor redactor, const CollectorOptions& options);

  void seed(const std::vector<KnownProcess>& known) { seeds_.add(known); }
  void forget_seeds() { seeds_.clear(); }
  // Sets new rules. Forgets the user names, so that they are looked up again.
  void set_rules(Categoriser categoriser, Redactor redactor);

  void set_store_bytes(std::int64_t bytes) { names_.resize(bytes); }

  // Returns `entry.info`, updated from `entry.identity` (if that is done and valid) and from the status. Key, start and
  // parent stay.
  ProcessInfo describe(const ProcessEntry& entry) const;
  // Sets the key, start and parent of a new process in `info`.
  void begin(const ProcessEntry& entry, const Moment& now, ProcessInfo& info) const;
  // Replaces new text in `info` that exceeds the user's budget. Returns false if the path of the program, the command
  // line or the working directory was replaced; a replaced cgroup or setting does not count.
  bool fit(ProcessInfo& info, const ProcessEntry& entry, std::int64_t boot_ms) {
    return names_.fit(info, entry.info, boot_ms);
  }
  NameBudget& names() { return names_; }
  const std::string& category(const ProcessInfo& info) const { return categoriser_.category(info); }
  const std::shared_ptr<CommandReader>& commands() const { return commands_; }
  const std::shared_ptr<NameRedactor>& name_redactor() const { return name_redactor_; }
  static bool knows_command(const ProcessEntry& entry) { return !entry.fresh && !entry.command_due; }
  // Returns whether the command line in `entry.info` belongs to the program that `entry.identity` found.
  static bool keeps_program(const ProcessEntry& entry);

  // Returns a job that looks up the user's name; nullptr if the name is known or requested, or if an earlier lookup is
  // stuck.
  std::shared_ptr<UserJob> ask_user(std::uint32_t uid);
  // Takes the names that were found. Call it after the jobs of a tick were run.
  void take_users();
  bool knows_user(std::uint32_t uid) const { return uid == kUnknownUid || users_.contains(uid); }
  std::string user_name(std::uint32_t uid) const;  // the number if the name is unknown

 private:
  const CollectorOptions options_;
  NameBudget names_;
  Categoriser categoriser_;
  std::shared_ptr<CommandReader> commands_;      // shared with the jobs
  std::shared_ptr<NameRedactor> name_redactor_;  // shared with the jobs
  Seeds seeds_;
  std::unordered_map<std::uint32_t, std::string> users_;
  std::vector<std::shared_ptr<UserJob>> asked_;
};

}  // namespace memoir
