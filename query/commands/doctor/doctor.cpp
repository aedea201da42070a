// memoir doctor: checks, with fixes.

#include "query/commands/doctor/doctor.h"

#include <algorithm>
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "config/config.h"
#include "query/args/database_path.h"
#include "query/render/shell_text.h"
#include "query/render/terminal.h"
#include "query/report/format.h"
#include "store/sqlite/integrity.h"

namespace memoir::query {
namespace {

// Returns a problem from a message that contains the fix: "what: PATH: fix".
Finding problem(const std::string& check, const Error& error) {
  return {check, Verdict::problem, error.message, ""};
}

// Returns whether the file's last run was recorded on this machine.
bool is_of_this_machine(const std::vector<StoredRun>& runs) {
  if (runs.empty()) return true;
  Buffer buffer;
  const auto boot = read_file("/proc/sys/kernel/random/boot_id", buffer);
  if (boot && trim(*boot) == runs.back().boot.boot_id) return true;
  char host[256] = {};
  return gethostname(host, sizeof host - 1) == 0 && runs.back().boot.host == host;
}

std::string asking_user() {
  const passwd* user = getpwuid(geteuid());
  return user == nullptr ? fmt::format("user {}", geteuid()) : std::string(user->pw_name);
}

void examine_damage(const std::string& path, Findings& findings) {
  const Result<std::string> damage = check_file(path, [](int percent) {
    show_progress("checking the file", percent);
    return true;
  });
  end_progress();
  if (!damage) {
    findings.push_back(problem("damage", damage.error()));
  } else if (!damage->empty()) {
    findings.push_back({"damage", Verdict::problem, "the database is damaged: " + *damage,
                        "move it aside with its -wal and -shm, and start the recorder again"});
  } else {
    findings.push_back({"damage", Verdict::ok, "every page of the file is sound", ""});
  }
}

void examine_configuration(const std::string& database, Findings& findings) {
  const std::string path = default_config_path();
  const Result<Config> config = load_config(path);
  if (!config) {
    // A missing or unreadable configuration does not matter.
    if (config.error().kind != ErrorKind::malformed) return;
    findings.push_back({"configuration", Verdict::problem, "memoird would not start: " + config.error().message,
                        "check it with memoird --check-config"});
  } else if (!config->db.empty() && config->db != database) {
    findings.push_back({"configuration", Verdict::warning,
                        fmt::format("{} makes memoird record into {}, which is another file", path, config->db),
                        fmt::format("memoir --db {}, or set MEMOIR_DB", shell_path(config->db))});
  } else {
    findings.push_back({"configuration", Verdict::ok, path + " can be read", ""});
  }
}

Status examine_content(Reader& reader, const FileLocation& place, const Options& options, std::int64_t now_ms,
                       Findings& findings) {
  const FileInfo file = TRY(reader.info());
  const std::vector<StoredRun> runs = TRY(reader.runs());
  findings.push_back({"schema", Verdict::ok, fmt::format("a Memoir database, schema {}", file.schema), ""});
  const RecorderStatus status = TRY(find_status(reader, file, runs, now_ms));
  findings.push_back(judge_room(place, growth_of(status.file, status.recorded_ms).bytes_per_day));
  for (Finding& finding : judge_recorder(status, is_of_this_machine(runs), options.zone)) {
    findings.push_back(std::move(finding));
  }
  if (!status.tick) return Done{};
  const Snapshot snapshot = TRY(reader.snapshot(status.tick->id));
  const bool reported = std::ranges::any_of(
      status.degraded, [](const Event& event) { return event.text.find("pressure") != std::string::npos; });
  if (!reported) findings.push_back(judge_pressure(snapshot.machine.memory.has(MachineField::psi_some_total)));
  return Done{};
}

Findings examine(const Options& options, std::int64_t now_ms) {
  Findings findings;
  const Result<std::string> path = find_database(options.db);
  if (!path) {
    findings.push_back(problem("file", path.error()));
    return findings;
  }
  const Result<FileLocation> place = inspect_place(*path);
  if (!place) {
    findings.push_back(problem("file", place.error()));
    return findings;
  }
  findings = judge_place(*place);
  const Result<std::unique_ptr<Reader>> reader = Reader::open(*path);
  if (!reader) {
    // A warning, such as the one about readable command lines, may not apply to a file with unknown content.
    std::erase_if(findings, [](const Finding& finding) { return finding.verdict == Verdict::warning; });
    findings.push_back(problem("content", reader.error()));
    return findings;
  }
  findings.push_back({"access", Verdict::ok, asking_user() + " may read it", ""});
  examine_damage(*path, findings);
  const Status content = examine_content(**reader, *place, options, now_ms, findings);
  if (!content) findings.push_back(problem("content", content.error()));
  if (options.db.empty()) examine_configuration(*path, findings);
  return findings;
}

Tone tone_of(Verdict verdict) {
  return verdict == Verdict::problem ? Tone::problem : verdict == Verdict::warning ? Tone::warning : Tone::plain;
}

std::string title_of(std::int64_t problems, std::int64_t warnings) {
  if (problems == 0 && warnings == 0) return "all is in order";
  std::string title = problems > 0 ? format_count(problems, "problem", "problems") : std::string();
  if (warnings > 0) {
    title += fmt::format("{}{}", title.empty() ? "" : ", ", format_count(warnings, "warning", "warnings"));
  }
  return title;
}

// Returns the facts that belong in the first line: nothing is recording, or something was not recorded.
std::string lead_of(const Findings& findings) {
  std::string lead;
  for (const Finding& finding : findings) {
    if (finding.verdict == Verdict::ok || (finding.check != "recorder" && finding.check != "gaps")) continue;
    lead += fmt::format("; {}{}", finding.check == "recorder" ? "the recorder " : "", finding.what);
  }
  return lead;
}

Columns<Finding> columns() {
  return {
      {{"verdict", "VERDICT", Kind::text}, [](const Finding& finding) { return to_string(finding.verdict); }},
      {{"check", "CHECK", Kind::text}, &Finding::check},
      {data_column("what"), &Finding::what},
      {data_column("fix"), [](const Finding& finding) { return finding.fix.empty() ? Value() : finding.fix; }},
      {{"", "FINDING", Kind::sentence, 0, Shown::people, true},
       [](const Finding& finding) {
         return finding.fix.empty() ? finding.what : fmt::format("{}. To fix: {}", finding.what, finding.fix);
       }},
  };
}

Result<Report> report_findings(const Options& options, std::int64_t now_ms) {
  Findings findings = examine(options, now_ms);
  const auto count = [&findings](Verdict verdict) {
    return static_cast<std::int64_t>(std::ranges::count(findings, verdict, &Finding::verdict));
  };
  const std::int64_t problems = count(Verdict::problem);
  const std::int64_t warnings = count(Verdict::warning);
  // The worst findings come first. Equally bad findings stay in the order of the checks.
  std::ranges::stable_sort(findings, std::ranges::greater(), &Finding::verdict);
  Report report;
  report.title = title_of(problems, warnings) + lead_of(findings);
  report.facts = {{"ok", "", Kind::text, problems == 0},
                  {"problem_count", "", Kind::count, problems},
                  {"warning_count", "", Kind::count, warnings}};
  report.rows =
      make_table<Finding>(columns(), findings, [](const Finding& finding) { return tone_of(finding.verdict); });
  report.tone = problems > 0 ? Tone::problem : warnings > 0 ? Tone::warning : Tone::plain;
  report.failed = problems > 0;
  return report;
}

}  // namespace

Command doctor_command() {
  return {.name = "doctor",
          .summary = "checks of file, recorder and permissions, with fixes",
          .examples = {{"memoir doctor", "checks everything; exit status 1 if there is a problem"},
                       {"memoir doctor --format json", "the same for a monitor"}},
          .run_alone = report_findings};
}

}  // namespace memoir::query
