// Answers from rollups compared with those from ticks. One file has a complete week; the other has the same week after
// retention, without the ticks of its first day.

#include <fmt/format.h>
#include <set>

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/golden.h"
#include "query/history/tier.h"
#include "query/week.h"
#include "store/copy/copy.h"
#include "support/catch.h"

namespace tiers_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::History;
using memoir::test::kWeekDayMs;
using memoir::test::raw_week;
using memoir::test::recorded_week;
using nlohmann::json;

namespace {

const char* const kRollups[] = {"5min", "hour", "day"};

json kept(std::vector<std::string> words) {
  return json_of(recorded_week(), std::move(words));
}

json whole(std::vector<std::string> words) {
  words.insert(words.end(), {"--tier", "raw"});
  return json_of(raw_week(), std::move(words));
}

// The tolerance is the rounding error of each bucket's mean.
bool is_near(const json& reported, const json& known, double margin = 1.5) {
  if (reported.is_null() || known.is_null()) return reported == known;
  return std::abs(reported.get<double>() - known.get<double>()) <= margin;
}

const json* row_with(const json& rows, const std::string& key, const json& value) {
  for (const json& row : rows) {
    if (row[key] == value) return &row;
  }
  return nullptr;
}

std::vector<std::string> with(std::vector<std::string> arguments, std::initializer_list<std::string> more) {
  arguments.insert(arguments.end(), more);
  return arguments;
}

// 2026-11-21 has ticks and rollups; the ticks of 2026-11-19 have expired.
const std::string kRecentDay = "2026-11-21";
const std::string kOldDay = "2026-11-19";

// A process has rows in the day tier once it has run for a day. All processes of this week start on its first day.
bool is_before_its_rollups(const std::string& day, const std::string& tier) {
  return day == kOldDay && tier == "day";
}

std::vector<TierSpan> spans() {
  return {{Tier::raw, 93 * kWeekDayMs, 100 * kWeekDayMs},
          {Tier::five_minutes, 40 * kWeekDayMs, 100 * kWeekDayMs},
          {Tier::hour, 10 * kWeekDayMs, 100 * kWeekDayMs},
          {Tier::day, 1 * kWeekDayMs, 100 * kWeekDayMs}};
}

Tier chosen(std::int64_t from_day, std::int64_t to_day, Reads reads = Reads::one, std::int64_t widest = kAnyWidth) {
  return choose_tier(spans(), {from_day * kWeekDayMs, to_day * kWeekDayMs}, reads, widest);
}

}  // namespace

TEST_CASE("tiers: the finest tier that reaches back and answers quickly is chosen") {
  CHECK(chosen(99, 100) == Tier::raw);
  CHECK(chosen(94, 95) == Tier::raw);
  CHECK(chosen(92, 93) == Tier::five_minutes);
  CHECK(chosen(94, 98) == Tier::five_minutes);
  CHECK(chosen(60, 100) == Tier::hour);
  CHECK(chosen(39, 40) == Tier::hour);
  CHECK(chosen(9, 10) == Tier::day);
  CHECK(chosen(60, 100, Reads::all) == Tier::day);
  CHECK(chosen(99, 100, Reads::all) == Tier::five_minutes);
  CHECK(chosen(99, 100, Reads::sums) == Tier::raw);
  CHECK(chosen(99, 100, Reads::process) == Tier::five_minutes);
  CHECK(choose_tier(spans(), {100 * kWeekDayMs - 12 * History::kHour, 100 * kWeekDayMs}, Reads::process) == Tier::raw);
  CHECK(choose_tier({}, {0, kWeekDayMs}, Reads::one) == Tier::raw);
}

TEST_CASE("tiers: a range that starts before all data uses the longest tier") {
  CHECK(choose_tier(spans(), {0, 2 * kWeekDayMs}, Reads::one) == Tier::day);
  const std::vector<TierSpan> young{{Tier::raw, 99 * kWeekDayMs, 100 * kWeekDayMs},
                                    {Tier::five_minutes, 99 * kWeekDayMs, 100 * kWeekDayMs}};
  CHECK(choose_tier(young, {0, 100 * kWeekDayMs}, Reads::one) == Tier::raw);
}

TEST_CASE("tiers: a given width is used if a tier has it") {
  CHECK(chosen(94, 98, Reads::one, 2 * History::kMinute) == Tier::raw);
  CHECK(chosen(60, 100, Reads::one, 10 * History::kMinute) == Tier::five_minutes);
  CHECK(chosen(30, 100, Reads::one, 10 * History::kMinute) == Tier::hour);
  CHECK(chosen(99, 100, Reads::one, History::kHour) == Tier::raw);
}

TEST_CASE("tiers: a longer range never gets a finer tier") {
  for (const Reads reads : {Reads::one, Reads::process, Reads::all, Reads::sums}) {
    Tier before = Tier::raw;
    for (std::int64_t hours = 1; hours < 99 * 24; ++hours) {
      const Tier now = choose_tier(spans(), {100 * kWeekDayMs - hours * History::kHour, 100 * kWeekDayMs}, reads);
      REQUIRE_OF_MANY(now >= before);
      before = now;
    }
  }
}

TEST_CASE("tiers: trend is the same from ticks and from each rollup") {
  const std::string subject = GENERATE("machine", "web", "401", "cgroup:/system.slice/postgresql.service", "comm:java");
  const std::string day = GENERATE(kRecentDay, kOldDay);
  const json raw = whole({"trend", subject, "--day", day, "--step", "1d"});
  const bool of_processes = subject == "401" || subject == "comm:java";
  for (const std::string tier : kRollups) {
    if (of_processes && is_before_its_rollups(day, tier)) continue;
    CAPTURE(subject, day, tier);
    const json rolled = kept({"trend", subject, "--day", day, "--step", "1d", "--tier", tier});
    CHECK(rolled["tier"] == tier);
    CHECK(rolled["min_kib"] == raw["min_kib"]);
    CHECK(rolled["max_kib"] == raw["max_kib"]);
    CHECK(is_near(rolled["mean_kib"], raw["mean_kib"]));
    CHECK(rolled["last_kib"] == raw["last_kib"]);
    CHECK(is_near(rolled["covered_ms"], raw["covered_ms"], 2));
    REQUIRE(rolled["rows"].size() == 1);
    CHECK(rolled["rows"][0]["max_kib"] == raw["rows"][0]["max_kib"]);
    CHECK(is_near(rolled["rows"][0]["mean_kib"], raw["rows"][0]["mean_kib"]));
  }
}

TEST_CASE("tiers: a process too short-lived for rollups is shown from its ticks, however long the range") {
  History history(2 * History::kMinute);
  history.begin_run();
  history.birth(1, {"init", "init"}, 5000);
  history.tick(100);
  history.birth(77, {"sh", "sh -c true"}, 700);
  history.tick(2);
  history.hold(77, 900);
  history.tick();
  history.death(77);
  history.birth(78, {"job", "job"}, 800);
  history.tick(30);
  history.death(78);
  history.tick(1470);
  history.maintain();
  REQUIRE(json_of(history, {"trend", "1"})["tier"] == "5min");
  const json trend = json_of(history, {"trend", "77", "--from", "2026-11-19", "--to", "2026-11-21 04:00"});
  CHECK(trend["tier"] == "raw");
  CHECK(trend["max_kib"] == 900);
  CHECK(trend["min_kib"] == 700);
  // A process with rollups is read from ticks if its whole run is short enough.
  CHECK(json_of(history, {"trend", "78", "--from", "2026-11-19", "--to", "2026-11-21 04:00"})["tier"] == "raw");
}

TEST_CASE("tiers: trend by the hour is the same from ticks and from rollups of 5 minutes and an hour") {
  const std::string by = GENERATE("used", "available", "swap");
  const json raw = whole({"trend", "--day", "2026-11-26", "--step", "1h", "--by", by});
  for (const char* tier : {"5min", "hour"}) {
    const json rolled = kept({"trend", "--day", "2026-11-26", "--step", "1h", "--by", by, "--tier", tier});
    REQUIRE(rolled["rows"].size() == raw["rows"].size());
    for (std::size_t i = 0; i < raw["rows"].size(); ++i) {
      CAPTURE(by, tier, i);
      CHECK(rolled["rows"][i]["min_kib"] == raw["rows"][i]["min_kib"]);
      CHECK(is_near(rolled["rows"][i]["mean_kib"], raw["rows"][i]["mean_kib"]));
      CHECK(rolled["rows"][i]["max_kib"] == raw["rows"][i]["max_kib"]);
      CHECK(is_near(rolled["rows"][i]["covered_ms"], raw["rows"][i]["covered_ms"], 2));
    }
  }
}

TEST_CASE("tiers: a sum that rollups lack is shown with its mean and without a maximum") {
  const json raw = whole({"trend", "user:postgres", "--day", kOldDay});
  const json rolled = kept({"trend", "user:postgres", "--day", kOldDay});
  CHECK(rolled["tier"] == "5min");
  CHECK(is_near(rolled["mean_kib"], raw["mean_kib"]));
  CHECK(rolled["max_kib"].is_null());
  CHECK(rolled["min_kib"].is_null());
}

TEST_CASE("tiers: top over a range is the same from ticks and from each rollup") {
  const std::string group = GENERATE("identity", "category", "cgroup", "process");
  const std::string day = GENERATE(kRecentDay, kOldDay);
  const std::vector<std::string> question{"top", "--day", day, "--group", group, "--limit", "0"};
  const json raw = whole(question);
  const std::string key = group == "process" ? "pid" : group;
  for (const std::string tier : kRollups) {
    if (group == "process" && is_before_its_rollups(day, tier)) continue;
    const json rolled = kept(with(question, {"--tier", tier}));
    for (const json& row : raw["rows"]) {
      CAPTURE(group, day, tier, row[key]);
      const json* found = row_with(rolled["rows"], key, row[key]);
      // A process that ran for less than a bucket has no row in this tier.
      if (found == nullptr && group == "process" && row["comm"] == "pg_dump") continue;
      REQUIRE(found != nullptr);
      CHECK(is_near((*found)["mean_kib"], row["mean_kib"]));
      CHECK((*found)["max_kib"] == row["max_kib"]);
      // A bucket of a day does not show that the process exited during the day.
      const bool ended = tier == "day" && (row["what"] == "came and went" || row["what"] == "gone");
      if (!ended) CHECK((*found)["last_kib"] == row["last_kib"]);
    }
    CHECK(rolled["rows"].size() <= raw["rows"].size());
  }
}

TEST_CASE("tiers: a sum over parts of buckets is over these parts, and the last bucket ends with the recording") {
  const std::vector<std::string> range =
      GENERATE(std::vector<std::string>{"--from", kOldDay + " 10:02", "--to", kOldDay + " 11:23"},
               std::vector<std::string>{"--last", "83m"});
  const auto over = [&range](std::vector<std::string> words) {
    words.insert(words.end(), range.begin(), range.end());
    return words;
  };
  const json raw = whole(over({"trend", "user:postgres"}));
  for (const std::string tier : {"5min", "hour"}) {
    CAPTURE(tier);
    const json rolled = kept(over({"trend", "user:postgres", "--tier", tier}));
    CHECK(is_near(rolled["mean_kib"], raw["mean_kib"], raw["mean_kib"].get<double>() / 20));
    CHECK(is_near(rolled["first_kib"], raw["first_kib"], raw["first_kib"].get<double>() / 20));
    CHECK(is_near(rolled["last_kib"], raw["last_kib"], raw["last_kib"].get<double>() / 20));
    const auto sum_by = [&](const std::string& group) {
      const json answer = kept(over({"top", "--group", group, "--limit", "0", "--tier", tier}));
      std::int64_t sum = 0;
      for (const json& row : answer["rows"]) sum += row["mean_kib"].get<std::int64_t>();
      return sum;
    };
    CHECK(is_near(sum_by("user"), sum_by("process"), 20));
  }
}

// The recorder is killed at 14:10 of the last day and started again 50 minutes later.
TEST_CASE("tiers: a sum in a bucket with a gap is over its recorded part") {
  const std::vector<std::string> question{"top",     "--from", "2026-11-26 14:00", "--to", "2026-11-26 16:00",
                                          "--group", "user",   "--limit",          "0"};
  const json raw = whole(question);
  REQUIRE(raw["coverage"]["gaps"].size() == 1);
  for (const std::string tier : {"5min", "hour"}) {
    const json rolled = kept(with(question, {"--tier", tier}));
    for (const json& row : raw["rows"]) {
      CAPTURE(tier, row["user"]);
      const json* found = row_with(rolled["rows"], "user", row["user"]);
      REQUIRE(found != nullptr);
      CHECK(is_near((*found)["mean_kib"], row["mean_kib"], row["mean_kib"].get<double>() / 20));
      CHECK((*found)["known_ms"] == row["known_ms"]);
      CHECK(is_near((*found)["first_kib"], row["first_kib"], row["first_kib"].get<double>() / 20));
    }
  }
}

TEST_CASE("tiers: the means of all rows and of short-lived processes add up to the total's") {
  for (const char* tier : kRollups) {
    CAPTURE(tier);
    const json by_process = kept({"top", "--day", kOldDay, "--tier", tier, "--limit", "0"});
    const json by_category = kept({"top", "--day", kOldDay, "--tier", tier, "--group", "category", "--limit", "0"});
    std::int64_t processes = by_process["totals"]["short_lived_mean_kib"];
    std::int64_t categories = 0;
    for (const json& row : by_process["rows"]) processes += row["mean_kib"].get<std::int64_t>();
    for (const json& row : by_category["rows"]) categories += row["mean_kib"].get<std::int64_t>();
    CHECK(is_near(processes, categories, 10));
  }
}

TEST_CASE("tiers: top at a time without ticks shows the bucket") {
  const json rolled = kept({"top", "--at", "2026-11-19 12:02", "--limit", "0"});
  const json raw = whole({"top", "--from", "2026-11-19 12:00", "--to", "2026-11-19 12:05", "--limit", "0"});
  CHECK(rolled["tier"] == "5min");
  CHECK(rolled["bucket_from_ms"] == History::kStart + 12 * History::kHour);
  CHECK(rolled["bucket_until_ms"] == History::kStart + 12 * History::kHour + 5 * History::kMinute);
  REQUIRE(rolled["rows"].size() == raw["rows"].size());
  for (const json& row : raw["rows"]) {
    const json* found = row_with(rolled["rows"], "pid", row["pid"]);
    CAPTURE(row["pid"]);
    REQUIRE(found != nullptr);
    CHECK(is_near((*found)["pss_kib"], row["mean_kib"]));
    CHECK((*found)["source"] == "mean");
    CHECK((*found)["hwm_kib"].is_null());
    CHECK((*found)["age_ms"].is_null());
  }
  CHECK(rolled["totals"]["exact_percent"].is_null());
  const json machine = whole({"trend", "--from", "2026-11-19 12:00", "--to", "2026-11-19 12:05"});
  CHECK(is_near(rolled["totals"]["machine_used_kib"], machine["mean_kib"], 3));
}

TEST_CASE("tiers: leaks of a time without ticks are judged with the machine's memory at that time") {
  const std::vector<std::string> question{"leaks", "--all", "--to", "2026-11-19 12:00"};
  const auto of_machine = [](const json& answer) {
    std::set<std::string> metrics;
    for (const json& row : answer["rows"]) {
      if (row["subject"] == "machine") metrics.insert(row["metric"]);
    }
    metrics.erase("zombies");  // only ticks have zombies
    return metrics;
  };
  const json rolled = kept(question);
  const json raw = json_of(raw_week(), question);
  const std::set<std::string> judged = of_machine(rolled);
  CHECK(judged.contains("unaccounted"));
  CHECK(judged == of_machine(raw));
  const json* grows = row_with(rolled["rows"], "subject", "postgres: main: checkpointer");
  const json* grew = row_with(raw["rows"], "subject", "postgres: main: checkpointer");
  REQUIRE(grows != nullptr);
  REQUIRE(grew != nullptr);
  CHECK((*grows)["limit"] == "the machine's memory");
  CHECK(is_near((*grows)["limit_room_kib"], (*grew)["limit_room_kib"]));
}

TEST_CASE("tiers: groups of a bucket equal the sums of their members") {
  const std::string group = GENERATE("identity", "category", "cgroup", "user", "command");
  const json rolled = kept({"top", "--at", "2026-11-19 12:02", "--group", group, "--limit", "0"});
  const json processes = kept({"top", "--at", "2026-11-19 12:02", "--limit", "0"});
  CHECK(is_near(rolled["totals"]["pss_kib"], processes["totals"]["pss_kib"]));
  double sum = 0;
  for (const json& row : rolled["rows"]) sum += row["pss_kib"].get<double>();
  CHECK(is_near(sum, processes["totals"]["pss_kib"], 10));
}

TEST_CASE("tiers: peaks of an old range are the maxima of rollups, with the times of marks") {
  const std::vector<std::string> range{"--from", "2026-11-19 01:00", "--to", "2026-11-19 23:00"};
  for (const std::string group : {"process", "category", "identity", "cgroup"}) {
    std::vector<std::string> question{"peaks", "--group", group, "--by", "pss", "--limit", "0"};
    question.insert(question.end(), range.begin(), range.end());
    const json raw = whole(question);
    const json rolled = kept(question);
    CHECK(rolled["tier"] == "5min");
    const std::string key = group == "process" ? "pid" : group;
    for (const json& row : raw["rows"]) {
      const json* found = row_with(rolled["rows"], key, row[key]);
      CAPTURE(group, row[key]);
      REQUIRE(found != nullptr);
      CHECK((*found)["peak_kib"] == row["peak_kib"]);
      CHECK((*found)["before_ms"] <= row["at_ms"]);
      CHECK((*found)["at_ms"] >= row["at_ms"]);
    }
    const json* used = row_with(rolled["machine"], "metric", "used");
    REQUIRE(used != nullptr);
    CHECK((*used)["peak_kib"] == (*row_with(raw["machine"], "metric", "used"))["peak_kib"]);
    const json* available = row_with(rolled["machine"], "metric", "available");
    REQUIRE(available != nullptr);
    CHECK((*available)["peak_kib"] == (*row_with(raw["machine"], "metric", "available"))["peak_kib"]);
    CHECK(rolled["others"].size() == raw["others"].size());
  }
}

TEST_CASE("tiers: if ticks are kept, they give the time of peaks within a bucket") {
  for (const std::string by : {"pss", "rss"}) {
    const std::vector<std::string> question{
        "peaks", "--group", "category", "--by", by, "--from", "2026-11-23 01:00", "--to", "2026-11-23 23:00"};
    const json raw = whole(question);
    const json rolled = kept(question);
    REQUIRE(rolled["tier"] == "5min");
    REQUIRE(raw["rows"].size() > 1);
    for (const char* part : {"rows", "machine"}) {
      for (const json& row : raw[part]) {
        const std::string key = part == std::string("rows") ? "category" : "metric";
        const json* found = row_with(rolled[part], key, row[key]);
        CAPTURE(by, row[key]);
        REQUIRE(found != nullptr);
        CHECK((*found)["peak_kib"] == row["peak_kib"]);
        CHECK((*found)["at_ms"] == row["at_ms"]);
        CHECK((*found)["before_ms"] == row["before_ms"]);
      }
    }
  }
}

TEST_CASE("tiers: identities have marks of all time") {
  const json all = kept({"peaks", "--group", "identity", "--limit", "0"});
  CHECK(all["all_time"] == true);
  const json* java = row_with(all["rows"], "identity", "app.service java -XmxNg -jar /opt/app/service.jar");
  REQUIRE(java != nullptr);
  const json raw = whole({"top", "--group", "identity", "--limit", "0", "--from", "2026-11-19"});
  const json* known = row_with(raw["rows"], "identity", (*java)["identity"]);
  REQUIRE(known != nullptr);
  CHECK((*java)["peak_kib"] == (*known)["max_kib"]);
  const json marks = kept({"peaks", "--group", "identity", "--by", "hwm", "--limit", "0"});
  CHECK(row_with(marks["rows"], "identity", (*java)["identity"]) != nullptr);
}

TEST_CASE("tiers: the parts of a diff add up to the machine's change, from any tiers") {
  const auto times =
      GENERATE(std::pair("2026-11-19 03:00", "2026-11-19 15:00"),   // the ticks of both times have expired
               std::pair("2026-11-19 02:20", "2026-11-26 09:50"),   // the ticks of one time have expired
               std::pair("2026-11-22 03:00", "2026-11-26 15:00"));  // the ticks of neither time have expired
  const std::string group = GENERATE("process", "identity", "category", "user");
  const json diff = kept({"diff", times.first, times.second, "--group", group, "--limit", "0"});
  CAPTURE(times.first, group);
  std::int64_t parts = 0;
  for (const json& part : diff["machine"]) parts += part["change_kib"].get<std::int64_t>();
  const json& totals = diff["totals"];
  CHECK(parts ==
        totals["machine_total_after_kib"].get<std::int64_t>() - totals["machine_total_before_kib"].get<std::int64_t>());
  std::int64_t rows = totals["others_kib"].get<std::int64_t>() + totals["short_lived_kib"].get<std::int64_t>();
  for (const json& row : diff["rows"]) rows += row["change_kib"].get<std::int64_t>();
  CHECK(is_near(rows, (*row_with(diff["machine"], "part", "processes"))["change_kib"], 20));
}

TEST_CASE("tiers: categories and processes of a time without ticks") {
  const json raw = whole({"categories", "--day", kOldDay});
  const json rolled = kept({"categories", "--day", kOldDay});
  CHECK(rolled["tier"] == "5min");
  REQUIRE(rolled["rows"].size() == raw["rows"].size());
  for (std::size_t i = 0; i < raw["rows"].size(); ++i) {
    CAPTURE(raw["rows"][i]["category"]);
    CHECK(rolled["rows"][i]["category"] == raw["rows"][i]["category"]);
    CHECK(rolled["rows"][i]["max_kib"] == raw["rows"][i]["max_kib"]);
    CHECK(is_near(rolled["rows"][i]["mean_kib"], raw["rows"][i]["mean_kib"]));
    CHECK(rolled["rows"][i]["most_processes"] == raw["rows"][i]["most_processes"]);
  }
  const json at = kept({"categories", "--at", "2026-11-19 12:02"});
  CHECK(at["tier"] == "5min");
  CHECK(at["rows"][0]["inexact"].is_null());

  const json lived = whole({"processes", "--day", kOldDay, "--limit", "0"});
  const json reported = kept({"processes", "--day", kOldDay, "--limit", "0"});
  REQUIRE(reported["rows"].size() == lived["rows"].size());
  for (const json& row : lived["rows"]) {
    const json* found = row_with(reported["rows"], "pid", row["pid"]);
    CAPTURE(row["pid"]);
    REQUIRE(found != nullptr);
    CHECK((*found)["ended_ms"] == row["ended_ms"]);
    CHECK((*found)["hwm_kib"] == row["hwm_kib"]);
  }
  const json then = kept({"processes", "--at", "2026-11-19 02:20", "--limit", "0"});
  CHECK(row_with(then["rows"], "comm", "pg_dump") != nullptr);
}

TEST_CASE("tiers: export writes a sample per bucket") {
  for (const std::string subject : {"machine", "categories", "processes"}) {
    const Outcome outcome = ask(recorded_week(), {"export", subject, "--from", "2026-11-19 12:00", "--to",
                                                  "2026-11-19 12:59", "--format", "jsonl"});
    REQUIRE(outcome.exit == Exit::answered);
    CHECK(outcome.error.find("rollups of 5 minutes") != std::string::npos);
    std::set<std::int64_t> times;
    for (std::size_t at = 0; at < outcome.out.size();) {
      const std::size_t end = outcome.out.find('\n', at);
      const json row = json::parse(outcome.out.substr(at, end - at));
      times.insert(row["at_ms"].get<std::int64_t>());
      if (subject == "machine") CHECK(row["used_kib"].is_number());
      if (subject == "processes") {
        CHECK(row["source"] == "mean");
        CHECK(row["pss_kib"].is_number());
        CHECK(row["hwm_kib"].is_null());
        // USS, which is the sum of two parts, is known; the parts are not.
        CHECK(row["private_clean_kib"].is_null());
        CHECK(row["private_dirty_kib"].is_null());
      }
      at = end + 1;
    }
    CAPTURE(subject);
    CHECK(times.size() == 12);
    CHECK(*times.begin() == History::kStart + 12 * History::kHour);
  }
}

TEST_CASE("tiers: a tier that does not reach back and an unknown one are usage errors") {
  const Outcome far = ask(recorded_week(), {"top", "--day", kOldDay, "--tier", "raw"});
  CHECK(far.exit == Exit::usage);
  CHECK(far.error.find("--tier raw starts at 2026-11-") != std::string::npos);
  const Outcome unknown = ask(recorded_week(), {"top", "--tier", "5mn"});
  CHECK(unknown.exit == Exit::usage);
  CHECK(unknown.error.find("did you mean '5min'?") != std::string::npos);
}

TEST_CASE("tiers: every command can read a copy of an old range") {
  const test::TemporaryDirectory directory;
  const std::string copy = directory.path() + "/old.db";
  const Outcome extracted =
      ask(recorded_week(), {"extract", "--from", "2026-11-19 01:00", "--to", "2026-11-19 20:00", "--output", copy});
  CAPTURE(extracted.error);
  REQUIRE(extracted.exit == Exit::answered);
  for (const std::vector<std::string>& question :
       {std::vector<std::string>{"top", "--limit", "0"},
        {"top", "--from", "2026-11-19 02:00", "--to", "2026-11-19 18:00"},
        {"trend"},
        {"trend", "web"},
        {"trend", "401"},
        {"peaks"},
        {"peaks", "--group", "category"},
        {"peaks", "--group", "identity", "--from", "2026-11-19 02:00", "--to", "2026-11-19 18:00"},
        {"diff"},
        {"processes", "--from", "2026-11-19 01:00"},
        {"processes", "--at", "2026-11-19 02:20"},
        {"categories"},
        {"summary", "--day", kOldDay},
        {"leaks"},
        {"status"}}) {
    const Outcome outcome = test::ask(copy, recorded_week().now_ms(), with(question, {"--format", "json"}));
    CAPTURE(question, outcome.error, outcome.out);
    CHECK(outcome.exit == Exit::answered);
  }
  const json here = test::json_of(copy, recorded_week().now_ms(),
                                  {"trend", "--from", "2026-11-19 02:00", "--to", "2026-11-19 18:00"});
  const json there = kept({"trend", "--from", "2026-11-19 02:00", "--to", "2026-11-19 18:00"});
  CHECK(here["mean_kib"] == there["mean_kib"]);
  CHECK(here["max_kib"] == there["max_kib"]);
  CHECK(here["coverage"]["recorded_ms"] == there["coverage"]["recorded_ms"]);
}

TEST_CASE("tiers: golden answers of times without ticks") {
  const History& week = recorded_week();
  test::check_formats("old-top", week, {"top", "--at", "2026-11-19 12:02"});
  test::check_formats("old-top-range", week, {"top", "--day", "2026-11-19", "--group", "identity"});
  test::check_formats("", week, {"trend", "web", "--day", "2026-11-19", "--step", "2h"});
  test::check_formats("", week, {"peaks", "--from", "2026-11-19 01:00", "--to", "2026-11-19 23:00"});
  test::check_formats("", week, {"diff", "2026-11-19 03:00", "2026-11-19 15:00"}, true);
  test::check_formats("", week, {"processes", "--day", "2026-11-19"});
  test::check_formats("", week, {"categories", "--at", "2026-11-19 12:02"});
}

TEST_CASE("tiers: a tree needs ticks, and reports expired ones") {
  for (const char* format : {"table", "json", "csv"}) {
    const std::vector<std::string> question{"tree", "--at", kOldDay + " 12:00", "--format", format};
    const Outcome gone = ask(recorded_week(), question);
    CAPTURE(gone.out, gone.error);
    CHECK(gone.exit == Exit::empty);
    CHECK((gone.out + gone.error).find("rollups have no parents") != std::string::npos);
  }
  CHECK(kept({"tree", "--at", kRecentDay + " 12:00"})["totals"]["processes"] == 6);
}

}  // namespace tiers_test
