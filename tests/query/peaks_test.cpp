// memoir peaks: the groups in a peak, and unsampled peaks.

#include <fmt/format.h>
#include <map>

#include <nlohmann/json.hpp>

#include "query/ask.h"
#include "query/history.h"
#include "query/on_screen.h"
#include "query/render/terminal.h"
#include "support/catch.h"

namespace peaks_test {

using namespace memoir;
using namespace memoir::query;
using memoir::test::History;
using nlohmann::json;

namespace {

constexpr std::int64_t kMib = 1024;

std::string on_screen(const History& history, const std::vector<std::string>& arguments, Screen screen) {
  const Result<std::string> text = test::answer_on_screen(history.path(), history.now_ms(), arguments, screen);
  CAPTURE(arguments);
  REQUIRE(text);
  return *text;
}

// Many small workers and a database; then most of the workers exit.
void record(History& history, int ticks) {
  history.begin_run();
  history.machine(3 * kMib * kMib);
  history.birth(1, {"postgres", "postgres", "database", "postgres", "/postgresql.service"}, 300 * kMib);
  history.birth(2, {"cron", "cron", "gone", "root", "/cron.service"}, 3 * kMib);
  history.tick(ticks);
  history.death(2);
  for (int pid = 1000; pid < 2000; ++pid)
    history.birth(pid, {"worker", fmt::format("worker -n {}", pid), "web", "www-data", "/app.service"}, 2 * kMib);
  history.birth(3, {"sshd", "sshd", "other", "root", "/ssh.service"}, 5 * kMib);
  history.birth(4, {"getty", "getty", "other", "root", "/getty.service"}, 1 * kMib);
  history.birth(5, {"chronyd", "chronyd", "other", "root", "/chrony.service"}, 4 * kMib);
  history.machine(9 * kMib * kMib);
  history.tick(ticks);
  for (int pid = 1000; pid < 1990; ++pid) history.death(pid);
  history.machine(3 * kMib * kMib);
  history.tick(ticks);
}

}  // namespace

TEST_CASE("peaks: the groups that made a peak of a thousand small processes are named, and add up") {
  const bool rolled = GENERATE(false, true);
  History history(rolled ? 120'000 : 10'000);
  record(history, rolled ? 40 : 6);
  history.maintain();
  std::vector<std::string> question{"peaks", "--last", "1d"};
  if (rolled) question.insert(question.end(), {"--tier", "5min"});
  const json answer = json_of(history, question);
  std::map<std::string, std::int64_t> sums;
  std::map<std::string, std::int64_t> processes;
  json worker;
  for (const json& row : answer["made_by"]) {
    if (row["of"] != "machine used") continue;
    sums[row["group"]] += row["pss_kib"].get<std::int64_t>();
    processes[row["group"]] += row["processes"].get<std::int64_t>();
    if (row["processes"] == 1000 && row["group"] == "identity") worker = row;
    CHECK(row["name"] != "gone");
  }
  CAPTURE(rolled, answer["made_by"].dump(1));
  constexpr std::int64_t whole = (300 + 2000 + 5 + 1 + 4) * kMib;
  CHECK(sums == std::map<std::string, std::int64_t>{{"identity", whole}, {"category", whole}});
  CHECK(processes == std::map<std::string, std::int64_t>{{"identity", 1004}, {"category", 1004}});
  REQUIRE(worker.is_object());
  CHECK(worker["pss_kib"] == 2000 * kMib);
  const std::string name = worker["name"];
  CHECK(name.starts_with("worker -n "));
  CHECK(name.ends_with(" in app.service"));

  const std::string table = text_of(history, question);
  CHECK(table.find("by identity, 2.3 GiB: " + name +
                   " (1000) 2.0 GiB, postgres in postgresql.service (1) 300.0 MiB, sshd in ssh.service (1) 5.0 MiB, "
                   "others (2) 5.0 MiB") != std::string::npos);
  CHECK(table.find("by category, 2.3 GiB: web (1000) 2.0 GiB, database (1) 300.0 MiB, other (3) 10.0 MiB") !=
        std::string::npos);
  // A small terminal has one line per peak, so only one of the two breakdowns is shown.
  question.insert(question.end(), {"--group", "category"});
  const std::string small = on_screen(history, question, {120, 24});
  CHECK(small.find(name + " (1000)") != std::string::npos);
  CHECK(small.find("postgres (1) 300.0 MiB\n") == std::string::npos);
}

TEST_CASE("peaks: a process without memory has no peak") {
  History history;
  history.begin_run();
  history.birth(1, {"sshd", "sshd"}, 5 * kMib);
  history.birth(2, {"gone", "gone"}, 0);
  history.zombie(2);
  history.tick(3);
  for (const std::vector<std::string>& question : {std::vector<std::string>{"peaks"},
                                                   {"peaks", "--by", "pss"},
                                                   {"peaks", "--last", "15s"},
                                                   {"peaks", "--by", "pss", "--last", "15s"}}) {
    const json rows = json_of(history, question)["rows"];
    CAPTURE(question, rows.dump(1));
    REQUIRE(rows.size() == 1);
    CHECK(rows[0]["pid"] == 1);
  }
}

TEST_CASE("peaks: the peak of an exited process is a lower bound; processes between two ticks are absent") {
  History history;
  history.begin_run();
  history.birth(1, {"lives", "lives"}, 50 * kMib);
  history.birth(2, {"ends", "ends"}, 90 * kMib);
  history.tick(6);
  history.death(2);
  history.tick(6);
  for (const std::vector<std::string>& question :
       {std::vector<std::string>{"peaks"}, {"peaks", "--last", "1h"}, {"peaks", "--by", "pss", "--last", "1h"}}) {
    const json answer = json_of(history, question);
    CAPTURE(question);
    REQUIRE(answer["rows"].size() == 2);
    CHECK(answer["rows"][0]["pid"] == 2);
    CHECK(answer["rows"][0]["at_least"] == true);
    CHECK(answer["rows"][1]["at_least"] == false);
    const std::string table = text_of(history, question);
    CHECK(table.find("that ran between two ticks") != std::string::npos);
    CHECK(table.find("the peak of an exited process is a minimum") != std::string::npos);
  }
  // In this range the process has not exited yet.
  const std::string before = text_of(history, {"peaks", "--to", fmt::format("@{}", History::kStart + 40'000)});
  CHECK(before.find("at least") == std::string::npos);
}

TEST_CASE("peaks: the peak of a day was reached in that day") {
  History history(10 * History::kMinute);
  history.begin_run();
  history.birth(1, {"falls", "falls"}, 500 * kMib);
  history.birth(2, {"rises", "rises"}, 60 * kMib);
  history.tick(30);
  history.hold(1, 100 * kMib);
  history.tick(150);
  history.hold(2, 70 * kMib);
  history.tick(150);
  const auto peak = [&](const std::string& day) {
    const json rows = json_of(history, {"peaks", "--day", day})["rows"];
    CAPTURE(day, rows.dump(1));
    REQUIRE(rows.size() == 2);
    return rows[0]["peak_kib"].get<std::int64_t>() / kMib;
  };
  CHECK(peak("2026-11-19") == 500);
  CHECK(peak("2026-11-20") == 100);
}

TEST_CASE("peaks: over any range each process has its peak, however briefly it ran") {
  History history;
  history.begin_run("bpf");
  history.tell_ends();
  history.birth(1, {"lives", "lives"}, 50 * kMib);
  history.tick(20);
  for (int i = 0; i < 40; ++i) history.flash(100 + i, {"flash", "flash"}, (100 + i) * kMib);
  history.tick(5);
  history.hold(1, 70 * kMib);
  history.tick();
  for (const std::string tier : {"raw", "5min"}) {
    for (const std::string last : {"1m", "3m", "30d"}) {
      const json rows = json_of(history, {"peaks", "--last", last, "--tier", tier})["rows"];
      CAPTURE(tier, last, rows.dump(1));
      REQUIRE(rows.size() == 41);
      for (std::size_t i = 0; i < 40; ++i) {
        CHECK(rows[i]["pid"] == 139 - i);
        CHECK(rows[i]["peak_kib"] == (139 - static_cast<std::int64_t>(i)) * kMib);
        CHECK(rows[i]["at_ms"] == History::kStart + 20 * History::kInterval - 2'000);
        CHECK(rows[i]["seen_by"] == "exit");
      }
      CHECK(rows[40]["peak_kib"] == 70 * kMib);
      CHECK(rows[40]["seen_by"] == "sample");
    }
  }
  // Filters compare the values of exit events.
  const auto filtered = json_of(history, {"peaks", "--last", "1m", "--filter", "rss>130M"});
  CHECK(filtered["rows"].size() == 9);
  CHECK_FALSE(filtered.contains("machine"));
  CHECK_FALSE(filtered.contains("categories"));
  CHECK(json_of(history, {"exits", "--last", "1m", "--filter", "rss>130M"})["rows"].size() == 9);
  const json later = json_of(history, {"peaks", "--last", "30s"})["rows"];
  REQUIRE(later.size() == 1);
  CHECK(later[0]["peak_kib"] == 70 * kMib);
}

TEST_CASE("The ranking key is shown, and its column comes first") {
  History history;
  record(history, 6);
  struct Asked {
    std::vector<std::string> question;
    const char* name;
    const char* header;
  };
  for (const Asked& asked :
       {Asked{{"top"}, "pss_kib", "PSS MiB ▼"}, Asked{{"top", "--by", "uss"}, "uss_kib", "USS MiB ▼"},
        Asked{{"top", "--by", "anon", "--group", "user"}, "anon_kib", "ANON MiB ▼"},
        Asked{{"top", "--last", "1h"}, "mean_kib", "MEAN MiB ▼"},
        Asked{{"top", "--last", "1h", "--by", "growth"}, "growth_kib", "GROWTH MiB ▼"},
        Asked{{"top", "--last", "1h", "--by", "hwm"}, "max_kib", "MAX MiB ▼"},
        Asked{{"categories", "--by", "rss"}, "rss_kib", "RSS MiB ▼"},
        Asked{{"categories", "--last", "1h"}, "mean_kib", "MEAN MiB ▼"}, Asked{{"processes"}, "start_ms", "STARTED ▼"},
        Asked{{"processes", "--by", "hwm"}, "hwm_kib", "HWM MiB ▼"},
        Asked{{"processes", "--by", "lifetime"}, "lifetime_ms", "LIFETIME ▼"},
        Asked{{"diff", "--last", "1h"}, "change_kib", "CHANGE MiB ▼"}, Asked{{"peaks"}, "peak_kib", "PEAK MiB ▼"}}) {
    CAPTURE(asked.question);
    CHECK(json_of(history, asked.question)["sorted_by"] == asked.name);
    const std::string table = text_of(history, asked.question);
    const std::size_t header = table.find(asked.header);
    REQUIRE(header != std::string::npos);
    const std::size_t line = table.rfind('\n', header) + 1;
    CHECK(table.find_first_not_of(' ', line) == header);
    // Data formats keep their column order.
    auto csv = asked.question;
    csv.insert(csv.end(), {"--format", "csv"});
    CHECK(text_of(history, csv).find("▼") == std::string::npos);
  }
  CHECK_FALSE(json_of(history, {"events"}).contains("sorted_by"));
  // This is also true on a narrow terminal.
  const std::string narrow = on_screen(history, {"top", "--by", "uss"}, {30, 24});
  CHECK(narrow.find("USS MiB ▼") != std::string::npos);
}

}  // namespace peaks_test
