// A snapshot of memoird --once, exported in the formats of ChromeOS's memory tests, with its list of categories.

#include <filesystem>
#include <fstream>

#include "recording.h"
#include "support/catch.h"
#include "support/slurp.h"

using namespace memoir::test;
using nlohmann::json;

namespace {

constexpr double kBytesOfMib = 1024.0 * 1024.0;

json read_json(const std::string& path) {
  return json::parse(slurp(path));
}

const json& with_pid(const json& list, std::int64_t pid) {
  for (const json& item : list) {
    if (item.at("pid") == pid) return item;
  }
  throw std::runtime_error("no process " + std::to_string(pid));
}

// A shell whose command line starts with `start`, and which waits for the end of its input.
Program program(const std::string& start) {
  return {.path = "/bin/bash", .arguments = {"-c", "exec -a '" + start + "' /bin/sh -c 'echo; read line'"}};
}

}  // namespace

TEST_CASE("export: one tick of real processes as rollups, and as metrics of ChromeOS's categories") {
  const Scene scene;
  const Child arc(program("/usr/bin/crosvm run --socket /run/vm/arcvm.sock"));
  const Child other(program("/usr/bin/crosvm run"));
  const Child second(program("/usr/bin/crosvm device"));
  for (const Child* child : {&arc, &other, &second}) {
    wait_until("the programs", [&] { return !child->output().empty(); });
  }
  const Outcome recorded =
      run({.path = MEMOIRD,
           .arguments = {"--once", "--db", scene.db(), "--config", MEMOIR_SOURCE "/systemd/examples/chromeos.toml"}});
  INFO(recorded.err);
  REQUIRE(recorded.status == 0);

  const std::string rollups = scene.folder() + "/smaps_rollup.json";
  REQUIRE(scene.ask({"export", "--format", "smaps-rollup", "-o", rollups, "--suffix", "_login"}).status == 0);
  CHECK_FALSE(std::filesystem::exists(rollups));
  const json list = read_json(scene.folder() + "/smaps_rollup_login.json");
  const json& item = with_pid(list, arc.pid());
  CHECK(item.at("command") == "/usr/bin/crosvm run --socket /run/vm/arcvm.sock -c echo; read line");
  CHECK(item.contains("shared_swap_pss"));
  const auto stored = scene.top();
  for (const Child* child : {&arc, &other, &second}) {
    const json& rollup = with_pid(list, child->pid()).at("rollup");
    CHECK(rollup.at("Pss") == stored.at(child->pid()).at("pss_kib").get<std::int64_t>() * 1024);
    CHECK(rollup.at("Rss") >= rollup.at("Pss"));
    CHECK(rollup.at("Pss") > 0);
    CHECK(rollup.contains("SwapPss"));
  }

  const std::string file = scene.folder() + "/metrics.json";
  REQUIRE(scene.ask({"export", "--format", "category-metrics", "-o", file, "--suffix", "_login"}).status == 0);
  const json metrics = read_json(scene.folder() + "/metrics_login.json");
  const auto value = [&](const std::string& name) { return metrics.at(name).at("summary").at("value").get<double>(); };
  const auto pss = [&](const Child& child) {
    return with_pid(list, child.pid()).at("rollup").at("Pss").get<double>() / kBytesOfMib;
  };
  CHECK(value("crosvm_arcvm_login_pss") == Approx(pss(arc)));
  CHECK(value("crosvm_other_login_pss") == Approx(pss(other) + pss(second)));
  for (const std::string name : {"crosvm_arcvm_login", "crosvm_other_login", "other_login"}) {
    CHECK(value(name + "_pss_total") == Approx(value(name + "_pss") + value(name + "_pss_swap")));
    CHECK(metrics.at(name + "_pss").at("summary").at("units") == "MiB");
    CHECK(metrics.at(name + "_pss_swap").at("summary").at("improvement_direction") == "down");
  }
}
