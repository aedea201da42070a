#include "world/audit/audit.h"

#include <algorithm>
#include <chrono>
#include <fmt/ranges.h>

#include "support/manual_clock.h"

namespace memoir::world {

Audit::Audit(std::string path, std::string label, Tally& tally)
    : path_(std::move(path)), label_(std::move(label)), tally_(tally) {}

Tally::Count& Audit::count_of(std::string_view clause) {
  return tally_.clauses[Clause{law_, std::string(clause)}];
}

void Audit::set_truth(const Truth& truth) {
  truth_ = &truth;
}

query::Outcome Audit::run(Words words, const std::string& path) const {
  words.insert(words.end(), {"--db", path, "--utc"});
  ++tally_.queries;
  return query::run_query(words, test::ManualClock({truth_->ticks.back().wall_ms + 1, 0}));
}

json Audit::parse(const Words& words, const query::Outcome& outcome) {
  json answer = json::parse(outcome.out, nullptr, false);
  const int law = std::exchange(law_, 0);
  check("", !answer.is_discarded(), "memoir {}: exit {}: {}", fmt::join(words, " "), static_cast<int>(outcome.exit),
        outcome.error);
  law_ = law;
  return answer.is_discarded() ? json() : answer;
}

const json& Audit::ask(const Words& words) {
  const auto found = answers_.find(words);
  if (found != answers_.end()) return found->second;
  return answers_[words] = parse(words, run(words + Words{"--format", "json"}, path_));
}

Words Audit::range() const {
  return {"--from", at(truth_->ticks.front().wall_ms - 1000), "--to", at(truth_->ticks.back().wall_ms), "--limit", "0"};
}

const json& Audit::summary() {
  static const json kNull;
  constexpr std::int64_t kDayMs = 86'400'000;
  const std::int64_t day = truth_->ticks.front().wall_ms / kDayMs;
  if (truth_->ticks.back().wall_ms / kDayMs != day) return kNull;
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{day}}};
  return ask({"summary", "--day",
              fmt::format("{}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                          static_cast<unsigned>(date.day()))});
}

std::vector<const TickTruth*> Audit::some_ticks(std::size_t count) const {
  std::mt19937_64 engine(truth_->ticks.size());
  std::vector<const TickTruth*> ticks;
  const std::size_t part = std::max<std::size_t>(1, truth_->ticks.size() / count);
  for (std::size_t first = 0; first + part <= truth_->ticks.size() && ticks.size() < count; first += part) {
    ticks.push_back(&truth_->ticks[first + engine() % part]);
  }
  return ticks;
}

const TickTruth* Audit::tick_at(std::int64_t wall_ms) const {
  const auto found = std::ranges::find(truth_->ticks, wall_ms, &TickTruth::wall_ms);
  return found == truth_->ticks.end() ? nullptr : &*found;
}

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string at(std::int64_t wall_ms) {
  return fmt::format("@{}", wall_ms);
}

const json& part(const json& answer, const char* key) {
  static const json kNull;
  const auto found = answer.is_object() ? answer.find(key) : answer.end();
  return answer.is_object() && found != answer.end() ? *found : kNull;
}

std::int64_t number(const json& row, const char* key) {
  const json& value = part(row, key);
  return value.is_number() ? value.get<std::int64_t>() : kNone;
}

std::string text(const json& row, const char* key) {
  const json& value = part(row, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

const json& list(const json& answer, const char* key) {
  static const json kEmpty = json::array();
  const json& value = part(answer, key);
  return value.is_array() ? value : kEmpty;
}

std::string name_of(const json& row) {
  return fmt::format("{}@{}:{}", number(row, "pid"), number(row, "start_ms"), text(row, "comm"));
}

std::string name_of(const Life& life, const Image& image) {
  return fmt::format("{}@{}:{}", life.pid, life.start_ms, image.comm);
}

std::map<std::string, const json*> by_name(const json& answer) {
  std::map<std::string, const json*> rows;
  for (const json& row : list(answer, "rows")) rows[name_of(row)] = &row;
  return rows;
}

}  // namespace memoir::world
