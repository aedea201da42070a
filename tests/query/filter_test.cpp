#include "query/args/filter.h"

#include "query/args/subject.h"
#include "query/names/name_lookup.h"
#include "query/render/shell_text.h"
#include "query/render/terminal.h"
#include "support/catch.h"

namespace filter_test {

using namespace memoir;
using namespace memoir::query;

namespace {

ProcessInfo nginx() {
  ProcessInfo info;
  info.key = {812, 4711, 0};
  info.comm = "nginx";
  info.exe = "/usr/sbin/nginx";
  info.command = "nginx: worker process";
  info.user = "www-data";
  info.category = "web";
  info.cgroup = "/system.slice/nginx.service";
  return info;
}

bool takes(std::vector<std::string> expressions) {
  const auto filter = Filter::parse(expressions);
  REQUIRE(filter.ok());
  StoredProcess process;
  process.info = nginx();
  return filter->matches(process);
}

StoredProcess life(std::int32_t pid, std::int64_t start_ms, std::uint32_t exec_count, const char* category) {
  StoredProcess process;
  process.id = pid * 100 + std::int64_t{exec_count} + start_ms;
  process.info = nginx();
  process.info.key = {pid, static_cast<std::uint64_t>(start_ms / 10), exec_count};
  process.info.start_ms = start_ms;
  process.info.category = category;
  process.boot_id = "boot";
  return process;
}

}  // namespace

TEST_CASE("Filters compare complete values or search by regex, and all must match") {
  CHECK(takes({}));
  CHECK(takes({"category=web"}));
  CHECK_FALSE(takes({"category=we"}));
  CHECK(takes({"pid=812"}));
  CHECK_FALSE(takes({"pid=81"}));
  CHECK(takes({"pid~^81"}));
  // With a start time, in seconds or milliseconds, a pid means one of several processes.
  constexpr std::int64_t start_ms = 1'795'166'412'345;
  const auto is_meant = [](const char* pid) {
    const auto filter = Filter::parse({std::string("pid=") + pid});
    REQUIRE(filter.ok());
    return filter->matches(life(812, start_ms, 0, "web"));
  };
  CHECK(is_meant("812@1795166412345"));
  CHECK(is_meant("812@1795166412"));
  CHECK_FALSE(is_meant("812@1795166414"));
  CHECK_FALSE(is_meant("813@1795166412"));
  CHECK(takes({"command~worker"}));
  CHECK_FALSE(takes({"command~^worker"}));
  CHECK(takes({"cgroup~nginx\\.service$", "user=www-data", "comm=nginx", "exe=/usr/sbin/nginx"}));
  CHECK_FALSE(takes({"category=web", "user=root"}));
  // The first = or ~ counts; everything after it is the value.
  CHECK_FALSE(takes({"command=a~b=c"}));
}

TEST_CASE("A filter can be negated, and a cgroup includes its descendants") {
  CHECK(takes({"category!=db"}));
  CHECK_FALSE(takes({"category!=web"}));
  CHECK(takes({"comm!~^php", "user!=root"}));
  CHECK_FALSE(takes({"comm!~^ng"}));
  CHECK(takes({"cgroup=/system.slice"}));
  CHECK(takes({"cgroup=/system.slice/"}));
  CHECK(takes({"cgroup=/"}));
  CHECK(takes({"cgroup=/system.slice/nginx.service"}));
  CHECK_FALSE(takes({"cgroup=/system"}));
  CHECK_FALSE(takes({"cgroup=/system.slice/nginx.service/x"}));
  CHECK_FALSE(takes({"cgroup!=/system.slice"}));
  CHECK(takes({"container="}));
}

TEST_CASE("A filter compares memory once the usage of processes is known") {
  const auto ids = [](const std::string& expression) {
    auto filter = Filter::parse({expression, "category=web"});
    REQUIRE(filter.ok());
    StoredProcess process = life(1, 0, 0, "web");
    CHECK_FALSE(filter->matches(process));  // usage is not known yet
    for (const Metric metric : filter->metrics())
      filter->decide(metric, {{1, 0}, {2, 100 * 1024 - 1}, {3, 100 * 1024}, {4, 100 * 1024 + 1}});
    std::string taken;
    for (process.id = 1; process.id <= 5; ++process.id) {
      if (filter->matches(process)) taken += std::to_string(process.id);
    }
    return taken;
  };
  CHECK(ids("rss>100M") == "4");
  CHECK(ids("rss>=100MiB") == "34");
  CHECK(ids("pss<100mb") == "12");
  CHECK(ids("uss<=102400K") == "123");
  CHECK(ids("anon=0.09765625G") == "3");
  CHECK(ids("swap!=0") == "234");
  CHECK(ids("swap_pss>0") == "234");
  CHECK(ids("hwm>1T").empty());
}

TEST_CASE("An invalid filter shows the valid ones") {
  const auto message = [](const char* expression) {
    const auto filter = Filter::parse({expression});
    REQUIRE_FALSE(filter.ok());
    CHECK(filter.error().kind == ErrorKind::malformed);
    CHECK(filter.error().message.find(
              "category, user, pid, comm, exe, command, script, cgroup, unit, slice, identity, container") !=
          std::string::npos);
    return filter.error().message;
  };
  CHECK(message("web").find("no =, ~, < or >") != std::string::npos);
  CHECK(message("rss>100").find("a number and a unit") != std::string::npos);
  CHECK(message("rss>-1M").find("a number and a unit") != std::string::npos);
  CHECK(message("rss>nanM").find("a number and a unit") != std::string::npos);
  CHECK(message("rss>infM").find("a number and a unit") != std::string::npos);
  CHECK(message("rss>1e3M").find("a number and a unit") != std::string::npos);
  CHECK(message("rss>9999999999999G").find("a number and a unit") != std::string::npos);
  CHECK(message("rss~1").find("rss is a size") != std::string::npos);
  CHECK(message("user>1M").find("user is not a size") != std::string::npos);
  CHECK(message("rs>1M").find("did you mean 'rss'") != std::string::npos);
  CHECK(message("comm!nginx").find("no =, ~, < or >") != std::string::npos);
  CHECK(message("categroy=web").find("did you mean 'category'") != std::string::npos);
  CHECK(message("pid=812@monday").find("a start is a number") != std::string::npos);
  CHECK(message("pid=812@").find("a start is a number") != std::string::npos);
  CHECK(message("command~(").find("missing )") != std::string::npos);
  CHECK(message("pid=nginx").find("number") != std::string::npos);
  CHECK(message("\x1b[2J=x").find('\x1b') == std::string::npos);
  std::string alternatives = "command~first";
  for (int i = 0; i < 2'000; ++i) alternatives += "|worker" + std::to_string(i) + ".*x";
  CHECK(message(alternatives.c_str()).find("the pattern is too large") != std::string::npos);
}

TEST_CASE("Subjects name the machine, a process or a group") {
  CHECK(parse_subject("machine", 0, Zone::utc)->kind == Subject::Kind::machine);
  const auto process = parse_subject("812@1795166412", 0, Zone::utc);
  REQUIRE(process.ok());
  CHECK(process->kind == Subject::Kind::process);
  CHECK(process->pid == 812);
  CHECK(process->start_ms == 1795166412000);
  for (const char* text : {"category:web", "category=web"}) {
    const auto web = parse_subject(text, 0, Zone::utc);
    REQUIRE(web.ok());
    CHECK(web->category == "web");
    CHECK(web->members.matches(life(812, 0, 0, "web")));
  }
  const auto cgroup = parse_subject("cgroup:/system.slice/nginx.service", 0, Zone::utc);
  REQUIRE(cgroup.ok());
  CHECK_FALSE(cgroup->category);
  CHECK(cgroup->members.matches(life(812, 0, 0, "web")));
  CHECK(parse_subject("command~work", 0, Zone::utc)->members.matches(life(812, 0, 0, "web")));
  for (const char* text : {"", "categroy:web", "0", "812@", "812@teatime", "99999999999", "command~("}) {
    CAPTURE(text);
    const auto bad = parse_subject(text, 0, Zone::utc);
    REQUIRE_FALSE(bad.ok());
    CHECK(bad.error().kind == ErrorKind::malformed);
  }
}

TEST_CASE("A reused pid lists its processes, an exec is the same process") {
  const std::vector<StoredProcess> processes{life(812, 1'795'000'000'000, 0, "web"),
                                             life(812, 1'795'000'000'000, 1, "web"),
                                             life(812, 1'795'009'000'000, 0, "db"), life(7, 0, 0, "web")};
  const auto both = members_of(*parse_subject("812", 0, Zone::utc), processes, Zone::utc);
  REQUIRE_FALSE(both.ok());
  CHECK(both.error().message.find("812@1795000000000") != std::string::npos);
  CHECK(both.error().message.find("812@1795009000000") != std::string::npos);
  const auto first = members_of(*parse_subject("812@1795000000", 0, Zone::utc), processes, Zone::utc);
  REQUIRE(first.ok());
  CHECK(first->size() == 2);
  CHECK(members_of(*parse_subject("7", 0, Zone::utc), processes, Zone::utc)->size() == 1);
  CHECK(members_of(*parse_subject("category:web", 0, Zone::utc), processes, Zone::utc)->size() == 3);
  const auto near = members_of(*parse_subject("category:wed", 0, Zone::utc), processes, Zone::utc);
  REQUIRE_FALSE(near.ok());
  CHECK(near.error().message.find("did you mean 'web'") != std::string::npos);
  CHECK_FALSE(members_of(*parse_subject("1234", 0, Zone::utc), processes, Zone::utc).ok());
}

TEST_CASE("Units and identities can be filtered") {
  CHECK(takes({"unit=nginx.service"}));
  CHECK(takes({"identity~^nginx: worker"}));
  CHECK_FALSE(takes({"unit=nginx"}));
}

TEST_CASE("The error for a value that no process has suggests the nearest existing one") {
  const std::vector<StoredProcess> processes{life(812, 0, 0, "web"), life(813, 0, 0, "db")};
  const auto filter = Filter::parse({"category=wbe", "user=www-data", "comm~x", "pid=1"});
  REQUIRE(filter.ok());
  CHECK(filter->misses(processes) ==
        std::vector<Filter::Miss>{{"no process has the category 'wbe'; did you mean 'web'?", ""},
                                  {"no process 1 was sampled at that time; a process that runs for less than the "
                                   "recorder's interval may be missed",
                                   "1"}});
}

TEST_CASE("A name matches everything that contains it; matches with the same processes are listed once") {
  std::vector<StoredProcess> processes{life(1, 0, 0, "web"), life(2, 0, 0, "web"), life(3, 0, 0, "db")};
  const auto names = [&processes](std::string_view word) {
    std::vector<std::string> all;
    for (const NameMatch& meaning : name_matches(word, processes)) all.push_back(meaning.key + ":" + meaning.value);
    return all;
  };
  using Names = std::vector<std::string>;
  CHECK(names("web") == Names{"category:web"});
  CHECK(names("nginx") == Names{"unit:nginx.service"});  // cgroup, exe and comm have the same processes
  CHECK(names("www-data") == Names{"user:www-data"});
  CHECK(names("nginx: worker process") == Names{"identity:nginx: worker process"});
  CHECK(names("ngin").empty());
  processes[2].info.comm = "web";
  CHECK(names("web") == Names{"category:web", "comm:web"});
  CHECK(names("nginx") == Names{"comm:nginx"});  // an exact match; the unit matches partly
  processes[1].info.exe = "/opt/nginx";
  CHECK(names("/opt/nginx") == Names{"exe:/opt/nginx"});
  for (StoredProcess& process : processes) process.info.comm = "main";
  // Two programs, and the unit that both belong to.
  CHECK(names("nginx") == Names{"unit:nginx.service", "exe:/usr/sbin/nginx", "exe:/opt/nginx"});
  processes[2].info.command = "python3 /srv/worker.py 3";
  CHECK(names("worker.py") == Names{"script:worker.py"});
}

TEST_CASE("A shell reads a quoted word back unchanged") {
  use_utf8();
  CHECK(shell_word("comm:nginx") == "comm:nginx");
  CHECK(shell_word("identity:a b") == "'identity:a b'");
  CHECK(shell_word("comm:it's") == "'comm:it'\\''s'");
  CHECK(shell_word("comm:日本") == "comm:日本");
  CHECK(shell_word("") == "''");
  CHECK(shell_word("comm:a\nb\\'\x1b") == "$'comm:a\\nb\\\\\\'\\x1b'");
}

}  // namespace filter_test
