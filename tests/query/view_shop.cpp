#include "query/view_shop.h"

namespace memoir::test {
namespace {

constexpr std::int64_t kMib = 1024;

}  // namespace

void record_shop(History& history) {
  history.begin_run();
  const std::string shop = "/system.slice/shop.service";
  history.machine(1200 * kMib);
  CgroupSample limited;
  limited.path = shop;
  limited.current_kib = 90 * kMib;
  limited.max_kib = 384 * kMib;
  limited.anon_kib = 88 * kMib;
  history.cgroup(limited);
  history.machine(MachineField::psi_some_total, 0);
  history.machine(MachineField::psi_some_avg10, 0);
  history.machine(MachineField::psi_full_avg10, 0);
  history.machine(MachineField::committed_as, 2100 * kMib);
  history.machine(MachineField::commit_limit, 8192 * kMib);
  history.birth(1, {"systemd", "/sbin/init", "systemd", "root", "/init.scope"}, 18 * kMib);
  history.birth(911, {"postgres", "postgres: checkpointer", "database", "postgres", "/system.slice/postgresql.service"},
                61 * kMib);
  history.birth(32655, {"python3", "python3 /tmp/demo/shop.py --listen 80", "python", "shop", shop}, 94 * kMib);
  history.birth(32702, {"python3", "python3 /tmp/demo/worker.py --queue orders", "python", "shop", shop}, 20 * kMib);
  history.tick(240);
  for (int minute = 0; minute < 10; ++minute) {
    history.hold(32702, (40 + 27 * minute) * kMib);
    history.machine((1220 + 27 * minute) * kMib);
    if (minute >= 7) {
      history.machine(MachineField::psi_some_total, (minute - 6) * 2'000'000);
      history.machine(MachineField::psi_some_avg10, (minute - 6) * 300);
      history.machine(MachineField::psi_full_avg10, (minute - 6) * 100);
    }
    history.tick(6);
  }
  history.death(32702);
  history.oom_kills(1);
  OomVictim victim;
  victim.pid = 32702;
  victim.comm = "python3";
  victim.at_ms = history.now_ms() - 8000;
  victim.cgroup = shop;
  history.oom_victim(victim);
  history.machine(1200 * kMib);
  history.birth(32801, {"python3", "python3 /tmp/demo/worker.py --queue orders", "python", "shop", shop}, 20 * kMib);
  history.tick(30);
  history.end_run();
}

}  // namespace memoir::test
