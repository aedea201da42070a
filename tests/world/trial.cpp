#include "world/trial.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "world/audit/laws.h"
#include "world/drive/recording.h"

namespace memoir::world {
namespace {

constexpr std::size_t kMinTicks = 3;  // the minimum for a range

std::string title(const Clause& clause) {
  return fmt::format("law {}{}{}", clause.law, clause.name.empty() ? "" : " ", clause.name);
}

std::string violation(const Clause& clause, const Tally::Count& count) {
  return fmt::format("{}: {} of {} violate it; {}", title(clause), count.violated, count.checked, count.first);
}

}  // namespace

void run_trial(const std::vector<std::string>& steps, const std::string& label, const TrialOptions& options,
               Tally& tally) {
  const test::TemporaryDirectory folder;
  const std::string path = options.path.empty() ? folder.path() + "/world.db" : options.path;
  Audit audit(path, label, tally);
  const auto is_due = [&](int law) { return !options.law || *options.law == law; };
  Recording recording(path, [&](const Result<Tick>& tick, const TickTruth& truth) {
    audit.begin_law(51);
    if (is_due(51)) check_tick(audit, tick, truth);
  });
  try {
    recording.run(steps);
  } catch (const std::exception& error) {
    audit.begin_law(0);
    audit.check("recorder", false, "{}", error.what());
    return;
  }
  audit.set_truth(recording.machine().truth());
  if (audit.truth().ticks.size() < kMinTicks) return;
  for (const Law& law : laws()) {
    audit.begin_law(law.number);
    if (law.check != nullptr && is_due(law.number)) law.check(audit);
  }
}

Clause read_clause(std::string_view text) {
  Clause clause;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), clause.law);
  if (error != std::errc()) throw std::runtime_error("not a law: " + std::string(text));
  const auto length = static_cast<std::size_t>(end - text.data());
  clause.name = text.substr(std::min(text.size(), length + 1));
  return clause;
}

Kept read_kept(const std::string& path) {
  Kept kept;
  kept.name = std::filesystem::path(path).stem();
  std::ifstream in(path);
  constexpr std::string_view kLaw = "# law ";
  constexpr std::string_view kMark = ", known in ";
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(kLaw)) {
      const std::size_t mark = line.find(kMark);
      const Clause clause = read_clause(std::string_view(line).substr(0, mark).substr(kLaw.size()));
      if (mark == std::string::npos) {
        kept.clauses.push_back(clause);
      } else {
        kept.known.push_back({clause, std::stoll(line.substr(mark + kMark.size()))});
      }
    } else if (!line.empty() && !line.starts_with('#')) {
      kept.steps.push_back(line);
    }
  }
  if (kept.steps.empty()) throw std::runtime_error(path + ": no steps");
  return kept;
}

std::vector<Kept> read_all_kept() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(MEMOIR_KEPT_WORLDS)) {
    if (entry.path().extension() == ".world") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<Kept> all;
  for (const std::string& path : paths) all.push_back(read_kept(path));
  return all;
}

std::vector<std::string> failures(const Tally& tally, std::int64_t min_checks) {
  const std::vector<Kept> all = read_all_kept();
  std::vector<std::string> lines;
  std::map<int, std::int64_t> checked;
  for (const auto& [clause, count] : tally.clauses) {
    checked[clause.law] += count.checked;
    std::int64_t in_1000 = 0;
    for (const Kept& kept : all) {
      const auto known = std::ranges::find(kept.known, clause, &Known::clause);
      if (known != kept.known.end()) in_1000 = std::max(in_1000, known->in_1000);
    }
    if (count.violated * 1000 > in_1000 * count.checked) lines.push_back(violation(clause, count));
  }
  for (const Law& law : laws()) {
    if (checked[law.number] < min_checks) {
      lines.push_back(fmt::format("law {} was checked {} times, at least {} are needed: {}", law.number,
                                  checked[law.number], min_checks, law.sentence));
    }
  }
  return lines;
}

std::vector<std::string> failures(const Tally& tally, const Kept& kept) {
  std::vector<std::string> lines;
  for (const auto& [clause, count] : tally.clauses) {
    const bool is_known = std::ranges::find(kept.known, clause, &Known::clause) != kept.known.end();
    if (count.violated > 0 && !is_known) lines.push_back(violation(clause, count));
  }
  return lines;
}

}  // namespace memoir::world
