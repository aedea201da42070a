// memoir leaks --csv: valid input, messages for invalid input, without a database.

#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <string_view>
#include <thread>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "query/application.h"
#include "query/commands/leaks/leaks.h"
#include "support/catch.h"
#include "support/manual_clock.h"
#include "support/temporary_directory.h"

namespace leaks_csv_test {

using namespace memoir;
using namespace memoir::query;
using Json = nlohmann::json;

namespace {

constexpr std::int64_t kStartMs = 1'790'000'000'000;

CsvSeries parsed(const std::string& text) {
  const auto series = parse_leak_csv(text, "x.csv");
  REQUIRE(series);
  return *series;
}

std::string error_of(const std::string& text) {
  const auto series = parse_leak_csv(text, "x.csv");
  REQUIRE_FALSE(series);
  CHECK(series.error().kind == ErrorKind::io);
  return series.error().message;
}

// Twenty days with a reading per five minutes; grows by 4 MiB a day if `leaking`.
std::string history(bool leaking, bool header) {
  std::string text = header ? "time_ms,kib,life\n" : "";
  for (int at = 0; at < 20 * 288; ++at) {
    const double kib = 200'000 + (leaking ? 4096.0 * at / 288 : 0) + 300 * std::sin(at * 1.7);
    text += header ? fmt::format("{},{:.0f},4711\n", kStartMs + at * 300'000, kib)
                   : fmt::format("{},{:.3f},{:.3f}\n", at * 300, kib / 1024, kib / 1024 + 0.5);
  }
  return text;
}

struct File {
  test::TemporaryDirectory directory;
  std::string path = directory.path() + "/rss.csv";
  explicit File(const std::string& text) { std::ofstream(path) << text; }
};

Outcome ask(std::vector<std::string> words) {
  words.insert(words.begin(), "leaks");
  return run_query(words, test::ManualClock({kStartMs, 0}));
}

Json answered(std::vector<std::string> words) {
  words.insert(words.end(), {"--format", "json"});
  const Outcome outcome = ask(words);
  CAPTURE(outcome.error);
  REQUIRE(outcome.exit == Exit::answered);
  return Json::parse(outcome.out);
}

}  // namespace

TEST_CASE("A CSV file with a header has KiB, runs and means in any order of columns") {
  const CsvSeries plain = parsed("time_ms,kib\n1000,5\n2000,6.5\n");
  REQUIRE(plain.samples.size() == 2);
  CHECK(plain.unit == LeakUnit::kib);
  CHECK(plain.samples[1].at_ms == 2000);
  CHECK(plain.samples[1].value == 6.5);
  CHECK_FALSE(plain.samples[1].mean);

  const CsvSeries lives = parsed("life,mean,kib,seconds\r\nweb-1,7,5,1\r\nweb-2,8,6,2\r\nweb-1,7,5,3\r\n");
  REQUIRE(lives.samples.size() == 3);
  CHECK(lives.samples[0].at_ms == 1000);
  CHECK(lives.samples[0].mean == 7);
  CHECK(lives.samples[0].life != lives.samples[1].life);
  CHECK(lives.samples[0].life == lives.samples[2].life);
}

TEST_CASE("A CSV file without a header has seconds, a value and optionally the mean") {
  const CsvSeries series = parsed("# exported\n0,10.5,11\n\n60,10,10.25");
  REQUIRE(series.samples.size() == 2);
  CHECK(series.unit == LeakUnit::unknown);
  CHECK(series.samples[1].at_ms == 60'000);
  CHECK(series.samples[1].mean == 10.25);
  CHECK(parsed("0,0\n60,0.25").samples[1].value == 0.25);
}

TEST_CASE("An empty value is unknown, lines are sorted by time, and columns of other programs are accepted") {
  CHECK(parsed("time_ms,kib\n1,\n2,NaN\n3,4\n").samples.size() == 1);
  const CsvSeries mixed = parsed("time_ms,kib,pod\n3,1,a\n1,2,a\n");
  CHECK(mixed.samples[0].at_ms == 1);
  CHECK(mixed.warnings.size() == 2);
  CHECK(parsed("").samples.empty());
  CHECK(parsed("time_ms,kib\n").samples.empty());
}

TEST_CASE("A CSV file may have a byte order mark, quotes and carriage returns, as spreadsheets write them") {
  const CsvSeries series = parsed(
      "\xEF\xBB\xBF\"time_ms\" , \"kib\",\"life\",\"a \"\"note\"\"\"\r\n"
      "\"1000\",\"5\",\"a,\n b\",x\r\n2000,6.5,\"a,\n b\",\r\n");
  REQUIRE(series.samples.size() == 2);
  CHECK(series.unit == LeakUnit::kib);
  CHECK(series.samples[1].at_ms == 2000);
  CHECK(series.samples[1].value == 6.5);
  CHECK(series.samples[1].life == series.samples[0].life);
  CHECK(series.warnings == std::vector<std::string>{"x.csv: the column 'a \"note\"' is ignored"});
  CHECK(error_of("time_ms,kib\n1,\"2\n3,4\n").find("x.csv: line 2: a quote is not closed") == 0);
  CHECK(error_of("time_ms,kib,life\n1,2,\"a\nb\"\n3,x,c\n").find("x.csv: line 4: 'x' is not an amount") == 0);
}

TEST_CASE("A CSV file with duplicate lines is judged like one without them") {
  std::string twice;
  const std::string once = history(true, true);
  for (std::string_view rest = once; !rest.empty();) {
    const std::string line = std::string(cut_line(rest)) + "\n";
    twice += line.starts_with("time_ms") ? line : line + line;
  }
  const CsvSeries series = parsed(twice);
  CHECK(series.samples.size() == parsed(once).samples.size());
  CHECK(series.warnings.size() == 1);
  const Json found = answered({"--csv", File(twice).path});
  CHECK(found["verdict"] == "leak-steady");
  CHECK(parsed("time_ms,kib,life\n1,2,a\n1,3,b\n").samples.size() == 2);
  CHECK(parsed("time_ms,kib\n1,2\n1,3\n").samples.at(0).value == 3);
}

TEST_CASE("A pipe is read like a file") {
  const std::string text = history(true, true);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  std::thread writer([&] {
    for (std::string_view rest = text; !rest.empty();) {
      const ssize_t wrote = write(ends[1], rest.data(), rest.size());
      rest.remove_prefix(static_cast<std::size_t>(wrote));
    }
    close(ends[1]);
  });
  CHECK(answered({"--csv", fmt::format("/dev/fd/{}", ends[0])})["verdict"] == "leak-steady");
  writer.join();
  close(ends[0]);
}

TEST_CASE("A bad line of a CSV file is reported with the file and the line") {
  CHECK(error_of("time_ms,kib\n1,2\n2,many\n").find("x.csv: line 3: 'many' is not an amount") == 0);
  CHECK(error_of("time_ms,kib\n1,-2\n").find("x.csv: line 2: '-2' is not an amount") == 0);
  CHECK(error_of("time_ms,kib\n1,inf\n").find("line 2") != std::string::npos);
  CHECK(error_of("0,1\nlater,2\n").find("x.csv: line 2: 'later' is not a time") == 0);
  CHECK(error_of("1e300,1\n").find("is not a time") != std::string::npos);
  CHECK(error_of("0,1\n1\n").find("x.csv: line 2: there is no value") == 0);
  CHECK(error_of("0,1,2\n1,2,x\n").find("is not a mean") != std::string::npos);
  CHECK(error_of("when,kib\n").find("no column time_ms") != std::string::npos);
  CHECK(error_of("time_ms,bytes\n").find("no column kib") != std::string::npos);
}

TEST_CASE("A leak in a CSV file is found without a database, in each format") {
  const File file(history(true, true));
  const Json found = answered({"--csv", file.path});
  CHECK(found["verdict"] == "leak-steady");
  CHECK(found["leak"] == true);
  CHECK(found["slope_kib_per_day"].get<double>() == Approx(4096).epsilon(0.01));
  REQUIRE(found["slope_interval_kib_per_day"].size() == 2);
  CHECK(found["slope_interval_kib_per_day"][0].get<double>() <= 4096);
  CHECK(found["slope_interval_kib_per_day"][1].get<double>() >= 4096);
  CHECK(found["confidence"].get<double>() > 70);
  CHECK(found["evidence"].size() >= 7);
  CHECK(found["floors"].size() == 20);
  REQUIRE(found["rows"].size() == 1);
  CHECK(found["rows"][0]["subject"] == file.path);

  const Outcome table = ask({"--csv", file.path});
  CHECK(table.exit == Exit::answered);
  CHECK(table.out.find("leak-steady") != std::string::npos);
  CHECK(table.out.find("+4.0 MiB") != std::string::npos);
  CHECK(ask({"--csv", file.path, "--format", "csv"}).out.find(",leak-steady,true,") != std::string::npos);

  const Outcome explained = ask({"--csv", file.path, "--explain", "--ascii"});
  CHECK(explained.exit == Exit::answered);
  for (const char* part : {"Gates", "trend", "Floors", "What would change the verdict", "/"}) {
    CAPTURE(part);
    CHECK(explained.out.find(part) != std::string::npos);
  }
}

TEST_CASE("With a limit, a CSV file's leak has the time until it is reached, with its interval") {
  const File file(history(true, true));  // 280 MiB at the end, growing by 4 MiB a day
  const Json found = answered({"--csv", file.path, "--limit-kib", "327680"});
  const double in_ms = found["runs_out_in_ms"].get<double>();
  CHECK(in_ms == Approx(11.2 * 86'400'000).epsilon(0.1));
  REQUIRE(found["runs_out_interval_ms"].size() == 2);
  CHECK(found["runs_out_interval_ms"][0].get<double>() <= in_ms);
  CHECK(found["runs_out_interval_ms"][1].get<double>() >= in_ms);
  CHECK(found["rows"][0]["runs_out_in_ms"] == found["runs_out_in_ms"]);
  CHECK(found["rows"][0]["accelerates"] == false);
  CHECK(answered({"--csv", file.path, "--limit", "320MiB"})["runs_out_in_ms"] == found["runs_out_in_ms"]);
  CHECK(ask({"--csv", file.path, "--limit", "320MiB"}).out.find("in 11 d") != std::string::npos);

  CHECK(answered({"--csv", file.path})["runs_out_in_ms"].is_null());
  CHECK(ask({"--csv", file.path, "--limit-kib", "much"}).exit == Exit::usage);
  CHECK(ask({"--csv", file.path, "--limit-kib", "-1"}).exit == Exit::usage);
  CHECK(ask({"--limit-kib", "10"}).exit == Exit::usage);
}

TEST_CASE("Values without a unit are shown without one") {
  const File file(history(true, false));
  const Json found = answered({"--csv", file.path});
  CHECK(found["leak"] == true);
  CHECK(found["slope_kib_per_day"].get<double>() == Approx(4).epsilon(0.01));
  CHECK(ask({"--csv", file.path}).out.find("MiB") == std::string::npos);
}

TEST_CASE("Several files at once, without a leak or empty, are judged") {
  const File calm(history(false, true));
  const File leak(history(true, true));
  CHECK(answered({"--csv", calm.path})["leak"] == false);
  const Json both = answered({"--csv", calm.path, "--csv", leak.path});
  REQUIRE(both["rows"].size() == 2);
  CHECK(both["rows"][0]["leak"] == false);
  CHECK(both["rows"][1]["leak"] == true);

  const File empty("time_ms,kib\n");
  const Outcome outcome = ask({"--csv", empty.path, "--format", "json"});
  CHECK(outcome.exit == Exit::empty);
  CHECK(Json::parse(outcome.out)["verdict"] == "insufficient");
}

TEST_CASE("A CSV file that cannot be judged is an error with the reason") {
  const Outcome none = ask({"--csv", "/nowhere/rss.csv"});
  CHECK(none.exit == Exit::failed);
  CHECK(none.error.find("/nowhere/rss.csv") != std::string::npos);
  const File bad("time_ms,kib\n1,x\n");
  const Outcome wrong = ask({"--csv", bad.path});
  CHECK(wrong.exit == Exit::failed);
  CHECK(wrong.error.find(bad.path + ": line 2") != std::string::npos);
  CHECK(ask({"--csv", bad.path, "--last", "2h"}).exit == Exit::usage);
  CHECK(ask({"web", "--csv", bad.path}).exit == Exit::usage);
  CHECK(ask({"--csv", bad.path, "--hour", "soon"}).exit == Exit::usage);
}

}  // namespace leaks_csv_test
