#include "collect/redact/name_redactor.h"

#include <chrono>
#include <utility>

#include "base/clock.h"
#include "support/catch.h"
#include "support/sanitized.h"

namespace memoir::test {
namespace {

NameRedactor names(RedactionOptions options = {}) {
  auto made = Redactor::make(options);
  if (!made) FAIL(made.error().message);
  return NameRedactor(*std::move(made));
}

TmpfsEntry entry(std::string path) {
  TmpfsEntry made;
  made.path = std::move(path);
  return made;
}

}  // namespace

TEST_CASE("secrets in names of folders, files, cgroups and units are redacted, component by component") {
  NameRedactor redactor = names();
  const std::pair<const char*, const char*> cases[] = {
      {"/srv/token=s3cretvalue/data", "/srv/token=[redacted]/data"},
      {"/srv/--password=s3cretvalue", "/srv/--password=[redacted]"},
      {"/dev/shm/PGPASSWORD=s3cretvalue", "/dev/shm/PGPASSWORD=[redacted]"},
      {"/srv/AKIAIOSFODNN7EXAMPLE", "/srv/[redacted]"},
      {"/srv/ghp_0123456789abcdefghij0123456789abcdef/x", "/srv/[redacted]/x"},
      {"/srv/postgres:app:s3cret?password=s3cretvalue", "/srv/postgres:app:s3cret?password=[redacted]"},
      {"/system.slice/srv-token\\x3ds3cretvalue.mount", "/system.slice/srv-token=[redacted].mount"},
      {"/srv/token=s3cretvalue (deleted)", "/srv/token=[redacted] (deleted)"},
      {"memfd:token=s3cretvalue", "memfd:token=[redacted]"},
      {"/system.slice/run-token=s3cretvalue.service", "/system.slice/run-token=[redacted].service"},
      {"/system.slice/run-token\\x3ds3cretvalue.service/a", "/system.slice/run-token=[redacted].service/a"},
      {"/system.slice/backup@--password\\x3ds3cretvalue.service", "/system.slice/backup@--password=[redacted].service"},
      {"/user.slice/api_key=s3cretvalue.scope", "/user.slice/api_key=[redacted].scope"},
  };
  for (const auto& [name, expected] : cases) {
    CHECK(redactor.path(name) == expected);
    CHECK(redactor.path(expected) == expected);  // redacting again changes nothing
  }
}

TEST_CASE("names that only resemble a secret stay as they are") {
  NameRedactor redactor = names();
  for (const char* const name :
       {"/",
        "",
        "/usr/bin/python3",
        "/home/me/password/-pfoo",
        "/opt/mysql/-p",
        "/srv/My Documents/a b",
        "/system.slice/dev-disk-by\\x2duuid-1b2c.swap",
        "/system.slice/getty@tty1.service",
        "/a//b/",
        "/user.slice/app.slice/dbus-:1.2-org.freedesktop.portal.Desktop@0.service",
        "docker.io/library/redis:7@sha256:ab12",
        "/etc/ssl/private",
        "/system.slice/docker-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope",
        "/user.slice/user-1000.slice/user@1000.service/app.slice/app-org.gnome.Terminal-4711.scope",
        "[heap]",
        "/kubepods/burstable/pod1b2c3d4e-1111-2222-3333-444455556666/0123456789abcdef",
        "/SYSV00000000 (deleted)",
        "/run/user/1000/keyring",
        "/srv/key=value",
        "/srv/\xff\xfe"}) {
    CHECK(redactor.path(name) == name);
  }
}

TEST_CASE("names follow the configured rules, and drop_arguments does not apply to them") {
  RedactionOptions options;
  options.defaults = false;
  options.drop_arguments = true;
  options.rules = {{"customer-([0-9]+)", "", false, "", 1}};
  NameRedactor redactor = names(options);
  CHECK(redactor.path("/srv/customer-4711/My Documents") == "/srv/customer-[redacted]/My Documents");
  CHECK(redactor.path("/srv/token=x") == "/srv/token=x");
}

TEST_CASE("a rule for long hexadecimal words leaves the names of containers") {
  RedactionOptions options;
  options.rules = {{"([0-9a-f]{32,})", "", false, "", 1}};
  NameRedactor redactor = names(options);
  const std::string container = "/system.slice/docker-" + std::string(64, 'a') + ".scope";
  CHECK(redactor.path(container) == container);
  CHECK(redactor.path("/srv/" + std::string(40, 'a')) == "/srv/[redacted]");
}

TEST_CASE("a flood of new names has a bounded cost: names with '=' lose all after it until the next tick") {
  NameRedactor redactor = names();
  Tick tick;
  redactor.redact(tick);
  for (int i = 0; i < 2'000; ++i) redactor.path("/" + std::to_string(i) + std::string(200, 'x'));
  CHECK(redactor.path("/srv/key=value/plain") == "/srv/key=[redacted]/plain");
  CHECK(redactor.path("/srv/key\\x3dvalue") == "/srv/key=[redacted]");
  redactor.redact(tick);
  CHECK(redactor.path("/srv/key=value/plain") == "/srv/key=value/plain");
}

TEST_CASE("names take little time, even if all are new and seem to have secrets") {
  NameRedactor redactor = names();
  const auto per_name_us = [&](const std::string& mark) {
    constexpr int kNames = 200;
    const std::int64_t before_us = thread_cpu_us();
    for (int i = 0; i < kNames; ++i) {
      const std::string part = std::to_string(i) + mark + std::string(250, 'x');
      redactor.path("/" + part + "/a" + part);
    }
    return (thread_cpu_us() - before_us) / kNames;
  };
  const std::int64_t plain_us = per_name_us("-");
  const std::int64_t marked_us = per_name_us("=");
  WARN("us per name: " << plain_us << ", with marks " << marked_us);
  if (kSanitized) return;
  CHECK(plain_us < 200);
  CHECK(marked_us < 2'000);
}

TEST_CASE("redacted names stay distinct where the store needs that, or their rows are added up") {
  Tick tick;
  TmpfsSample mount;
  mount.mount_point = "/mnt/token=one";
  mount.largest = {entry("a"), entry("token=one"), entry("token=two")};
  tick.tmpfs.emplace() = {mount, mount};
  tick.tmpfs->back().mount_point = "/mnt/token=two";
  ProcessMappings mappings;
  for (const char* const label : {"/x/token=one", "/x/token=two", "/x/plain"}) {
    MappingRow row;
    row.name = {MappingKind::file, label};
    row.use.regions = 1;
    row.use.memory.set(ProcessField::pss, 100);
    mappings.summary.rows.push_back(row);
  }
  tick.summaries.push_back(mappings);
  OomVictim victim;
  victim.cgroup = "/run-token=one.scope";
  victim.detail.emplace().limit_cgroup = victim.cgroup;
  tick.oom_victims.push_back(victim);
  names().redact(tick);
  REQUIRE(tick.tmpfs->size() == 2);
  CHECK((*tick.tmpfs)[0].mount_point == "/mnt/token=[redacted]");
  CHECK((*tick.tmpfs)[1].mount_point == "/mnt/token=[redacted] (2)");
  CHECK((*tick.tmpfs)[0].largest[1].path == "token=[redacted]");
  CHECK((*tick.tmpfs)[0].largest[2].path == "token=[redacted] (2)");
  const std::vector<MappingRow>& rows = tick.summaries[0].summary.rows;
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].name.label == "/x/token=[redacted]");
  CHECK(rows[0].use.regions == 2);
  CHECK(rows[0].use.pss_kib() == 200);
  CHECK(tick.oom_victims[0].cgroup == "/run-token=[redacted].scope");
  CHECK(tick.oom_victims[0].detail->limit_cgroup == "/run-token=[redacted].scope");
}

}  // namespace memoir::test
