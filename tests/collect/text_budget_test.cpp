#include "collect/process/text_budget.h"

#include "collect/shortfall.h"
#include "support/catch.h"

using namespace memoir;

namespace {

constexpr std::uint32_t kAttacker = 4242;

ProcessInfo with_long_texts(std::uint32_t uid) {
  ProcessInfo info;
  info.uid = uid;
  info.user = "user";
  info.comm = "worst";
  info.exe = "/opt/" + std::string(500, 'e');
  info.command = "worst " + std::string(4000, 'a');
  info.cgroup = "/user.slice";
  info.cwd = "/srv/" + std::string(500, 'c');
  info.settings.cwd = info.cwd;
  info.settings.limits = std::string(300, 'l');
  return info;
}

std::size_t memory_of(const ProcessInfo& info) {
  return info.exe.capacity() + info.command.capacity() + info.cwd.capacity() + info.settings.cwd.capacity() +
         info.settings.limits.capacity();
}

}  // namespace

TEST_CASE("texts of 10,000 processes of one user stay within 14 MiB, and those of other users are kept in full") {
  TextBudget budget;
  budget.begin_tick();
  std::size_t bytes = 0;
  for (int i = 0; i < 10'000; ++i) {
    ProcessInfo info = with_long_texts(kAttacker);
    budget.fit(info, nullptr, {});
    bytes += memory_of(info);
    CHECK(info.command.starts_with("worst aaa"));
  }
  CHECK(bytes < std::size_t{14} << 20U);
  CHECK(budget.shortened() > 9'000);
  CHECK(budget.shortened_user() == "user (uid 4242)");
  for (const std::uint32_t uid : {0U, 1000U}) {
    ProcessInfo other = with_long_texts(uid);
    budget.fit(other, nullptr, {});
    CHECK(other == with_long_texts(uid));
  }
}

TEST_CASE("a process with replaced texts is counted once, and shortened the same way each time") {
  TextBudget budget;
  budget.begin_tick();
  ProcessInfo kept = with_long_texts(kAttacker);
  budget.fit(kept, nullptr, {});
  for (int i = 0; i < 10'000; ++i) {
    ProcessInfo again = with_long_texts(kAttacker);
    budget.fit(again, &kept, {});
    CHECK(again == kept);
  }
  ProcessInfo last;
  for (int i = 0; i < 2'000; ++i) {
    last = with_long_texts(kAttacker);
    budget.fit(last, nullptr, {});
  }
  CHECK(last.command.ends_with(kTextShortened));
  ProcessInfo again = last;
  again.settings = with_long_texts(kAttacker).settings;
  budget.fit(again, &last, {});
  CHECK(again == last);
}

TEST_CASE("a long path is truncated to whole components, with a digest of all") {
  const std::string component = "/" + std::string(100, 'd');
  std::string path;
  while (path.size() < 3000) path += component;
  const std::string bounded = bounded_path(path);
  CHECK(bounded.size() < 600);
  CHECK(bounded.starts_with(component + component));
  CHECK(bounded != bounded_path(path + "x"));
  CHECK(bounded_path("/usr/bin/app") == "/usr/bin/app");
  CHECK(bounded_path(std::string(4000, 'x')).size() < 100);
}

TEST_CASE("reaching a bound is one event, and its end is another") {
  Shortfall shortfall("Cgroups");
  std::vector<Event> events;
  for (std::int64_t ms = 0; ms < 100'000; ms += 10'000) shortfall.see("are too many", {ms, ms}, events);
  REQUIRE(events.size() == 1);
  CHECK(events[0].kind == "degraded");
  CHECK(events[0].text == "Cgroups are too many");
  for (std::int64_t ms = 100'000; ms < 2'000'000; ms += 10'000) shortfall.see("", {ms, ms}, events);
  REQUIRE(events.size() == 2);
  CHECK(events[1].kind == "restored");
  CHECK(events[1].at.boot_ms == 690'000);
  CHECK(events[1].text.starts_with("Cgroups have been "));
}

TEST_CASE("texts of many users take nothing from root's") {
  TextBudget budget;
  budget.begin_tick();
  for (std::uint32_t uid = 1000; uid < 1010; ++uid) {
    for (int i = 0; i < 1'000; ++i) {
      ProcessInfo info = with_long_texts(uid);
      budget.fit(info, nullptr, {});
    }
  }
  for (int i = 0; i < 1'000; ++i) {
    ProcessInfo info = with_long_texts(0);
    budget.fit(info, nullptr, {});
    REQUIRE(info == with_long_texts(0));
  }
}
