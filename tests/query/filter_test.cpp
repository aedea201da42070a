#include "query/filter.h"

#include "query/subject.h"
#include "support/catch.h"

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
  return filter->matches(nginx());
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

TEST_CASE("Filters compare as a whole or search by regex, and all must hold") {
  CHECK(takes({}));
  CHECK(takes({"category=web"}));
  CHECK_FALSE(takes({"category=we"}));
  CHECK(takes({"pid=812"}));
  CHECK_FALSE(takes({"pid=81"}));
  CHECK(takes({"pid~^81"}));
  CHECK(takes({"command~worker"}));
  CHECK_FALSE(takes({"command~^worker"}));
  CHECK(takes({"cgroup~nginx\\.service$", "user=www-data", "comm=nginx", "exe=/usr/sbin/nginx"}));
  CHECK_FALSE(takes({"category=web", "user=root"}));
  // The first = or ~ decides: the rest is the value.
  CHECK_FALSE(takes({"command=a~b=c"}));
}

TEST_CASE("A filter that cannot be read names what is valid") {
  const auto message = [](const char* expression) {
    const auto filter = Filter::parse({expression});
    REQUIRE_FALSE(filter.ok());
    CHECK(filter.error().kind == ErrorKind::malformed);
    CHECK(filter.error().message.find("category, user, pid, comm, exe, command, cgroup") != std::string::npos);
    return filter.error().message;
  };
  CHECK(message("web").find("no = or ~") != std::string::npos);
  CHECK(message("categroy=web").find("did you mean 'category'") != std::string::npos);
  CHECK(message("command~(").find("missing )") != std::string::npos);
  CHECK(message("pid=nginx").find("number") != std::string::npos);
  CHECK(message("\x1b[2J=x").find('\x1b') == std::string::npos);
}

TEST_CASE("Subjects name the machine, a process or a group") {
  CHECK(parse_subject("machine", 0, Zone::utc)->kind == Subject::Kind::machine);
  const auto process = parse_subject("812@1795166412", 0, Zone::utc);
  REQUIRE(process.ok());
  CHECK(process->kind == Subject::Kind::process);
  CHECK(process->pid == 812);
  CHECK(process->start_ms == 1795166412000);
  for (const char* text : {"web", "category:web", "category=web"}) {
    const auto web = parse_subject(text, 0, Zone::utc);
    REQUIRE(web.ok());
    CHECK(web->category == "web");
    CHECK(web->members.matches(nginx()));
  }
  const auto cgroup = parse_subject("cgroup:/system.slice/nginx.service", 0, Zone::utc);
  REQUIRE(cgroup.ok());
  CHECK_FALSE(cgroup->category);
  CHECK(cgroup->members.matches(nginx()));
  CHECK(parse_subject("command~work", 0, Zone::utc)->members.matches(nginx()));
  for (const char* text : {"", "colour:red", "0", "812@", "812@teatime", "99999999999", "command~("}) {
    CAPTURE(text);
    const auto bad = parse_subject(text, 0, Zone::utc);
    REQUIRE_FALSE(bad.ok());
    CHECK(bad.error().kind == ErrorKind::malformed);
  }
}

TEST_CASE("A pid that had several lives is asked which, an exec is the same life") {
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
  CHECK(members_of(*parse_subject("web", 0, Zone::utc), processes, Zone::utc)->size() == 3);
  const auto near = members_of(*parse_subject("wed", 0, Zone::utc), processes, Zone::utc);
  REQUIRE_FALSE(near.ok());
  CHECK(near.error().message.find("did you mean 'web'") != std::string::npos);
  CHECK_FALSE(members_of(*parse_subject("1234", 0, Zone::utc), processes, Zone::utc).ok());
}
