#include "recorder/alert/pipeline.h"

#include <csignal>

#include "support/catch.h"

using namespace memoir;

TEST_CASE("alerts: already reaped children have exited with unknown status") {
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  const AlertEnd end =
      run_alert({.exec = {"/bin/true"}, .memoir = {}, .environment = {}, .timeout = std::chrono::seconds(30)}, {});
  std::signal(SIGCHLD, before);
  CHECK_FALSE(end.well);
  CHECK(end.text.starts_with("/bin/true: exit status 255 after "));
}
