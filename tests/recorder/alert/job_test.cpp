#include "recorder/alert/job.h"

#include <stdexcept>
#include <string>

#include <asio/executor_work_guard.hpp>

#include "support/catch.h"

using namespace memoir;

namespace {

Result<int> throws(const std::stop_token&) {
  throw std::out_of_range("vector::at");
}

}  // namespace

TEST_CASE("a job that throws ends with an error, and another can run") {
  asio::io_context loop{1};
  const auto work = asio::make_work_guard(loop);
  std::string error;
  Job<int> job;
  REQUIRE(job.start(loop, throws, [&](const Result<int>& end) { error = end ? "" : end.error().message; }));
  while (job.running()) loop.run_one_for(std::chrono::seconds(60));
  CHECK(error == "vector::at");

  int answer = 0;
  REQUIRE(job.start(
      loop, [](const std::stop_token&) { return 42; }, [&](const Result<int>& end) { answer = end ? *end : 0; }));
  while (job.running()) loop.run_one_for(std::chrono::seconds(60));
  CHECK(answer == 42);
}

TEST_CASE("a job that throws while it is stopped ends with an error") {
  asio::io_context loop{1};
  Job<int> job;
  REQUIRE(job.start(loop, throws, [](const Result<int>&) {}));
  const auto end = job.stop(std::chrono::seconds(60));
  REQUIRE(end);
  CHECK_FALSE(*end);
}
