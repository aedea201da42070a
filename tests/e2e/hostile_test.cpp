// Names and command lines crafted to break the store, a table, a terminal or a parser. Also secrets in command lines.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

#include "holder.h"
#include "limited_cgroup.h"
#include "recording.h"
#include "support/catch.h"
#include "support/sanitized.h"

using namespace memoir::test;
using nlohmann::json;

namespace {

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    const auto value = static_cast<unsigned char>(byte);
    text += kDigits[value / 16];
    text += kDigits[value % 16];
  }
  return text;
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// A newline within quotes is a part of the value.
std::size_t csv_records(const std::string& text) {
  std::size_t count = 0;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (c == '\n' && !quoted) ++count;
  }
  return count;
}

bool holds_control_bytes(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && byte != '\n') || byte == 0x7f;
  });
}

// The bytes of all files of the database, including the -wal.
std::string database_bytes(const Scene& scene) {
  std::string all;
  for (const char* suffix : {"", "-wal", "-shm"}) {
    memoir::Buffer buffer;
    if (const auto text = memoir::read_file(scene.db() + suffix, buffer)) all += *text;
  }
  return all;
}

std::int64_t highest_rss_kib(pid_t pid) {
  memoir::Buffer buffer;
  const auto text = memoir::read_file("/proc/" + std::to_string(pid) + "/status", buffer);
  REQUIRE(text);
  return std::stoll(std::string(text->substr(text->find("VmHWM:") + 6, 20)));
}

// Dumps the answer, because nlohmann's parser reports invalid UTF-8 only when it writes strings.
void check_valid(const json& answer) {
  CHECK_NOTHROW(answer.dump());
}

}  // namespace

TEST_CASE("hostile names keep one line per row, and JSON valid") {
  const Scene scene;
  const std::vector<std::string> arguments{"line\nbreak",   "\x1b[31mred\x1b]0;title\x07", "tab\there",
                                           "\xff\xfe\xc3(", "\xe2\x80\xaereversed",        ""};
  Holder holder(scene.folder(), arguments);
  holder.run("comm " + hex("a\nb\x1b[2J\xff"));
  holder.run("private 262144");  // large enough to be among the first rows
  Recorder recorder(scene);
  recorder.tick();
  REQUIRE(recorder.stop() == 0);

  const json all = scene.answer({"top", "--limit", "0"});
  check_valid(all);
  const auto rows = scene.top();
  REQUIRE(rows.contains(holder.pid()));
  CHECK(contains(rows.at(holder.pid()).at("comm"), "a\nb\x1b[2J\\xff"));
  CHECK(contains(rows.at(holder.pid()).at("command"), "line\nbreak \x1b[31mred"));
  CHECK(contains(rows.at(holder.pid()).at("command"), "\\xff\\xfe\\xc3("));

  for (const std::string command : {"top", "processes", "peaks"}) {
    const Outcome table = scene.ask({command, "--limit", "0"});
    INFO(command << ":\n" << table.out);
    REQUIRE(table.status == 0);
    CHECK_FALSE(holds_control_bytes(table.out));
    CHECK(table.out.find("\xe2\x80\xae") == std::string::npos);
    CHECK_NOTHROW(json(table.out).dump());
    check_valid(scene.answer({command, "--limit", "0"}));
  }
  // Each row must add exactly one line, including the hostile row.
  const std::size_t one = lines(scene.ask({"top", "--limit", "1"}).out);
  CHECK(lines(scene.ask({"top", "--limit", "2"}).out) == one + 1);
  CHECK(csv_records(scene.ask({"top", "--limit", "0", "--format", "csv"}).out) == rows.size() + 1);
}

TEST_CASE("a command line of 128 KiB is truncated, with a note of its original length") {
  const Scene scene;
  const std::string longest(128 * 1024 - 1, 'x');  // the maximum length of an argument
  Holder holder(scene.folder(), {"--before", longest, "--after"});
  Recorder recorder(scene);
  recorder.tick();
  const json row = scene.top().at(holder.pid());
  const std::string command = row.at("command");
  CHECK(command.size() < 5000);
  CHECK(contains(command, "holder --before xxx"));
  CHECK(contains(command.substr(4000), "[cut: over 69632 bytes]"));
  const Outcome table = scene.ask({"top", "--limit", "0"});
  CHECK(table.status == 0);
}

TEST_CASE("sixty processes with 24 MiB of arguments each use little time and memory, and hide no other process") {
  const Scene scene;
  Holder bystander(scene.folder(), {"bystander"});
  Holder attacker(scene.folder(), {}, other_user());
  if (attacker.ask("arguments 24576") == "denied\n") {
    WARN("skipped: this kernel does not let a process move its arguments (PR_SET_MM_MAP)");
    return;
  }
  // Redaction may use a 20th of a core per user, and is slow under the sanitizers.
  const int processes = kSanitized ? 6 : 60;
  for (int i = 1; i < processes; ++i) attacker.run("fork");
  Recorder recorder(scene);
  const std::string unread =
      "SELECT count(*) FROM process_at WHERE tick_id = (SELECT max(id) FROM tick) AND command LIKE '%[cut: not read "
      "yet]'";
  recorder.tick();
  CHECK(contains(scene.top().at(bystander.pid()).at("command"), "bystander"));
  // A new name makes the recorder read the command line again, within the same budget.
  for (int i = 0; i < 6; ++i) {
    attacker.run("comm " + hex("name" + std::to_string(i)));
    recorder.tick();
  }
  wait_until("half of the command lines", [&] {
    recorder.tick();
    return scene.number(unread) <= processes / 2;
  });
  std::size_t redacted = 0;
  for (const auto& [pid, row] : scene.top()) {
    const std::string command = row.at("command");
    if (!contains(command, "[cut: over 69632 bytes]")) continue;
    CHECK(contains(command, "--password=[redacted]"));
    ++redacted;
  }
  CHECK(redacted >= static_cast<std::size_t>(processes) / 2);
  if (!kSanitized) {
    CHECK(scene.number("SELECT max(cpu_us) FROM tick").value() <= 2'000'000);
    CHECK(highest_rss_kib(recorder.child().pid()) <= 40 * 1024);
  }
  REQUIRE(recorder.stop() == 0);
  CHECK(database_bytes(scene).find("hunter2secret") == std::string::npos);
}

TEST_CASE("secrets of command lines do not occur in the database") {
  const Scene scene;
  Holder holder(scene.folder(), {"--password=hunter2secret", "--token", "tok-5ecret0987654321",
                                 "postgres://app:urlsecret77@db.example/app", "PGPASSWORD=envsecret88",
                                 "--api-key=AKIAIOSFODNN7EXAMPLE", "harmless-word"});
  Recorder recorder(scene);
  recorder.tick();
  const std::string while_written = database_bytes(scene);
  REQUIRE(recorder.stop() == 0);
  const std::string after = database_bytes(scene);
  for (const std::string secret :
       {"hunter2secret", "tok-5ecret0987654321", "urlsecret77", "envsecret88", "AKIAIOSFODNN7EXAMPLE"}) {
    INFO(secret);
    CHECK(while_written.find(secret) == std::string::npos);
    CHECK(after.find(secret) == std::string::npos);
  }
  CHECK(after.find("harmless-word") != std::string::npos);
  const std::string kept = scene.text("SELECT line FROM command WHERE line LIKE '%harmless-word%'");
  CHECK(contains(kept, "--password=[redacted]"));
  CHECK(contains(kept, "[redacted]@db.example"));
}

TEST_CASE("secrets in names of folders, files and cgroups are nowhere in the database, log, pages and extracts") {
  const Scene scene;
  const std::string folder = scene.folder() + "/token=hunterfolder1";
  std::filesystem::create_directory(folder);
  const std::string mapped = folder + "/PGPASSWORD=huntermapped2";
  std::ofstream(mapped) << std::string(1 << 20, 'x');
  const std::string shared = "/dev/shm/memoir-" + std::to_string(getpid()) + "-api_key=huntershared3";
  std::ofstream(shared) << std::string(1 << 20, 'x');
  const LimitedCgroup cgroup(1 << 20, "memoir-" + std::to_string(getpid()) + "-token=huntercgroup4.scope");
  {
    Holder holder(folder);
    holder.run("map " + mapped);
    if (cgroup.usable()) REQUIRE(cgroup.take(holder.pid()));
    const std::filesystem::path here = std::filesystem::current_path();
    std::filesystem::current_path(folder);
    Child inside({.path = "/bin/sh", .arguments = {"-c", "echo ok && read end"}});
    std::filesystem::current_path(here);
    wait_until("the shell", [&] { return inside.output() == "ok\n"; });
    Recorder recorder(scene, "1h", {},
                      {"--config", configured(scene, "[tmpfs]\ninterval = '1s'\n[budget]\ncpu = '100%'\n")});
    recorder.tick();
    const auto names = [&] {
      return scene.text("SELECT count(*) FROM cgroup WHERE path LIKE '%token=[redacted].scope'") +
             scene.text("SELECT count(*) > 0 FROM tmpfs_entry WHERE path LIKE '%api_key=[redacted]'");
    };
    const std::string walked = ::access("/dev/shm", W_OK) == 0 ? "1" : "0";
    wait_until("a walk of /dev/shm", [&] {
      recorder.tick();
      return names() == (cgroup.usable() ? "1" : "0") + walked;
    });
    CHECK(scene.text("SELECT count(*) FROM directory WHERE path LIKE '%/token=[redacted]'") == "1");
    CHECK(scene.text("SELECT count(*) > 0 FROM command WHERE exe LIKE '%/token=[redacted]/holder'") == "1");
    CHECK(scene.text("SELECT count(*) > 0 FROM mapping WHERE label LIKE '%/token=[redacted]/PGPASSWORD=[redacted]'") ==
          "1");
    std::string all = database_bytes(scene);
    for (const std::vector<std::string>& page :
         std::vector<std::vector<std::string>>{{"top", "--format", "html"},
                                               {"processes", "--format", "html"},
                                               {"tmpfs", "--format", "json"},
                                               {"mappings", std::to_string(holder.pid())},
                                               {"objects", "--format", "html"},
                                               {"cgroups", "--format", "html"},
                                               {"export", "--format", "jsonl"}}) {
      const Outcome outcome = scene.ask(page);
      CAPTURE(page, outcome.err);
      CHECK(outcome.status == 0);
      all += outcome.out + outcome.err;
    }
    const std::string extract = scene.folder() + "/extract.db";
    CHECK(scene.ask({"extract", "--all", "-o", extract}).status == 0);
    memoir::Buffer buffer;
    if (const auto text = memoir::read_file(extract, buffer)) all += *text;
    REQUIRE(recorder.stop() == 0);
    all += database_bytes(scene) + recorder.child().output() + recorder.child().errors();
    for (const char* const secret : {"hunterfolder1", "huntermapped2", "huntershared3", "huntercgroup4"})
      CHECK(all.find(secret) == std::string::npos);
  }
  std::filesystem::remove(shared);
}
