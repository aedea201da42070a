#include "query/week.h"

#include <array>

namespace memoir::test {

namespace {

constexpr std::int64_t kMib = 1024;
constexpr std::int64_t kInterval = 120'000;
constexpr std::int64_t kHour = 3'600'000;
constexpr std::int64_t kMinute = 60'000;

// The daily load in percent, by hour.
constexpr std::array<std::int64_t, 24> kLoad{12, 8,  6,  5,  6,  10, 18, 34, 55, 74, 86, 92,
                                             88, 90, 95, 97, 90, 78, 62, 48, 38, 30, 22, 16};

std::int64_t load_at(std::int64_t ms) {
  const std::int64_t of_day = (ms - History::kStart) % kWeekDayMs;
  const auto hour = static_cast<std::size_t>(of_day / kHour);
  const std::int64_t part = of_day % kHour;
  return (kLoad[hour] * (kHour - part) + kLoad[(hour + 1) % 24] * part) / kHour;
}

struct Server {
  History history{kInterval};
  std::int64_t java_kib = 0;
  std::int64_t job_kib = 0;
  std::int64_t swap_kib = 0;
  std::int64_t stalled_us = 1'000'000;
  std::int64_t kills = 0;

  std::int64_t ms() const { return history.now_ms(); }
  std::int64_t of_day() const { return (ms() - History::kStart) % kWeekDayMs; }
  bool last_day() const { return ms() >= kWeekLastDay && ms() < kWeekLastDay + kWeekDayMs; }

  void begin() {
    history.begin_run();
    history.machine(MachineField::oom_kill, 0);
    history.birth(4242, {"memoird", "/usr/sbin/memoird", "monitoring", "memoir", "/system.slice/memoird.service"},
                  8 * kMib);
    history.birth(101, {"nginx", "nginx: master process /usr/sbin/nginx", "web", "root", "/system.slice/nginx.service"},
                  6 * kMib);
    history.birth(102, {"nginx", "nginx: worker process", "web", "www-data", "/system.slice/nginx.service"}, 40 * kMib);
    history.birth(
        201, {"postgres", "postgres: main: checkpointer", "database", "postgres", "/system.slice/postgresql.service"},
        900 * kMib);
    history.birth(
        301,
        {"evil",
         "evil <script>alert('x')</script> | `rm` \x1b[31m\xe2\x80\xae \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x9a\x80",
         "other", "root", "/"},
        3 * kMib);
    start_java(401);
  }

  void start_java(std::int32_t pid) {
    history.birth(pid, {"java", "java -Xmx6g -jar /opt/app/service.jar", "jvm", "app", "/system.slice/app.service"},
                  1200 * kMib);
  }

  // The application grows without limit on the morning of the last day, and is killed at 10:00.
  void run_away() {
    const std::int64_t since = of_day() - 9 * kHour - 20 * kMinute;
    if (!last_day() || since < 0 || of_day() >= 10 * kHour) return;
    java_kib += since / kMinute * 280 * kMib;
    swap_kib = std::min<std::int64_t>(since / kMinute * 40 * kMib, 1500 * kMib);
    stalled_us += since / kMinute * 300'000;
  }

  void move(std::int32_t java) {
    const std::int64_t load = load_at(ms());
    const std::int64_t day = (ms() - History::kStart) / kWeekDayMs;
    java_kib = (1200 + 14 * load) * kMib;
    if (swap_kib > 0 && of_day() % (30 * kMinute) == 0) swap_kib = swap_kib * 9 / 10;
    run_away();
    history.hold(102, (40 + 2 * load) * kMib);
    history.hold(201, 900 * kMib + (ms() - History::kStart) / kHour * kMib * 3 + (day + 1) * load / 3 * kMib);
    history.hold(java, java_kib);
    stalled_us += load * 20;
    const std::int64_t processes =
        java_kib + job_kib + (1000 + 5 * load) * kMib + (ms() - History::kStart) / kHour * kMib * 3;
    history.machine(processes + 700 * kMib - swap_kib, swap_kib);
    history.machine(MachineField::psi_some_total, stalled_us);
    history.machine(MachineField::oom_kill, kills);
  }

  void night_job() {
    if (of_day() == 2 * kHour) {
      job_kib = 2600 * kMib;
      history.birth(9000 + static_cast<std::int32_t>((ms() - History::kStart) / kWeekDayMs),
                    {"pg_dump", "pg_dump --file=/backup/db.dump", "backup", "postgres", "/system.slice/backup.service"},
                    job_kib);
    }
    if (of_day() == 2 * kHour + 40 * kMinute) {
      job_kib = 0;
      history.death(9000 + static_cast<std::int32_t>((ms() - History::kStart) / kWeekDayMs));
    }
  }
};

void record(Server& server, bool rolled_up) {
  std::int32_t java = 401;
  server.begin();
  while (server.ms() < kWeekLastDay + kWeekDayMs + 6 * kHour) {
    server.night_job();
    if (server.last_day() && server.of_day() == 10 * kHour) {
      server.history.death(std::exchange(java, 402));
      server.kills = 1;
    }
    if (server.last_day() && server.of_day() == 10 * kHour + 4 * kMinute) server.start_java(java);
    if (java == 401 || server.ms() >= kWeekLastDay + 10 * kHour + 4 * kMinute) server.move(java);
    server.history.tick();
    if (server.last_day() && server.of_day() == 14 * kHour + 10 * kMinute) {
      server.history.kill();
      server.history.pause(50 * kMinute);
      server.history.begin_run();
    }
  }
  if (rolled_up) server.history.maintain();
}

}  // namespace

History& recorded_week() {
  static Server server;
  static const bool recorded = (record(server, true), true);
  static_cast<void>(recorded);
  return server.history;
}

History& raw_week() {
  static Server server;
  static const bool recorded = (record(server, false), true);
  static_cast<void>(recorded);
  return server.history;
}

}  // namespace memoir::test
