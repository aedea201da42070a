// The process tree of real parents, children and grandchildren.

#include <sstream>

#include "holder.h"
#include "recording.h"
#include "support/catch.h"

using namespace memoir::test;
using nlohmann::json;

namespace {

// Returns null if there is no such row.
const json* find(const json& rows, std::int64_t pid) {
  for (const json& row : rows) {
    if (row.at("pid") == pid) return &row;
    if (const json* below = find(row.at("children"), pid)) return below;
  }
  return nullptr;
}

std::int64_t kib(const json& value) {
  return value.is_null() ? 0 : value.get<std::int64_t>();
}

// Checks that each row's sum is its own memory and its children's. Returns the number of rows.
std::size_t check_sums(const json& rows) {
  std::size_t count = rows.size();
  for (const json& row : rows) {
    for (const std::string metric : {"pss_kib", "uss_kib", "rss_kib", "swap_kib"}) {
      std::int64_t sum = kib(row.at(metric));
      for (const json& child : row.at("children")) sum += kib(child.at("subtree_" + metric));
      CHECK(kib(row.at("subtree_" + metric)) == sum);
    }
    count += check_sums(row.at("children"));
  }
  return count;
}

}  // namespace

TEST_CASE("tree: a shell, its children and grandchildren are nested, and their memory adds up") {
  const Scene scene;
  // The processes exit when this end of their standard input is closed.
  Child shell({.path = "/bin/sh",
               .arguments = {"-c", "exec 3<&0; sh -c 'cat <&3 & echo $! $$; cat <&3 & echo $!; wait' & wait"}});
  std::int64_t first = 0;
  std::int64_t child = 0;
  std::int64_t second = 0;
  wait_until("the grandchildren", [&] {
    std::istringstream pids(shell.output());
    return static_cast<bool>(pids >> first >> child >> second) && !pids.eof();
  });
  Holder holder(scene.folder());
  const pid_t forked = holder.run("fork");
  holder.run("private 8192");
  Recorder recorder(scene);
  recorder.tick();

  const json answer = scene.answer({"tree"});
  const json& rows = answer.at("rows");
  CHECK(check_sums(rows) == answer.at("totals").at("processes"));
  std::int64_t roots_kib = 0;
  for (const json& root : rows) roots_kib += kib(root.at("subtree_pss_kib"));
  CHECK(roots_kib == answer.at("totals").at("pss_kib"));

  const json* found = find(rows, shell.pid());
  REQUIRE(found != nullptr);
  CHECK(found->at("subtree_processes") == 4);
  REQUIRE(found->at("children").size() == 1);
  const json& middle = found->at("children")[0];
  CHECK(middle.at("pid") == child);
  CHECK(middle.at("parent_pid") == shell.pid());
  CHECK(middle.at("children").size() == 2);
  CHECK(find(middle.at("children"), first) != nullptr);
  CHECK(find(middle.at("children"), second) != nullptr);

  const json* parent = find(rows, holder.pid());
  REQUIRE(parent != nullptr);
  REQUIRE(parent->at("children").size() == 1);
  CHECK(parent->at("children")[0].at("pid") == forked);
  CHECK(kib(parent->at("subtree_pss_kib")) >= 8192);
  CHECK(parent->at("pss_kib") == scene.top().at(holder.pid()).at("pss_kib"));

  // A query for a pid has only this process with its ancestors and descendants.
  const json only = scene.answer({"tree", std::to_string(shell.pid())});
  CHECK(only.at("totals").at("processes") == 4);
  CHECK(find(only.at("rows"), first) != nullptr);
  CHECK(find(only.at("rows"), holder.pid()) == nullptr);
}
