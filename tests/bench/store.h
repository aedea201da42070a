#pragma once

// A database that measures the cost of writing ticks.

#include <filesystem>
#include <memory>
#include <string>

#include "cost.h"
#include "store/writer.h"

namespace memoir::bench {

class Store {
 public:
  Store(const std::string& path, const BootInfo& boot, const Moment& now, std::int64_t interval_ms)
      : path_(path), writer_(need(Writer::open(path, Durability::normal))) {
    need(writer_->begin_run({.boot = boot, .pid = 1, .version = "bench", .interval_ms = interval_ms, .started = now}));
  }

  // Returns CPU time in µs.
  double write(const Tick& tick) {
    return cost_us([&] { need(writer_->write(tick)); });
  }
  // Returns the size of the file in bytes.
  double close(const Moment& now) {
    need(writer_->end_run(now, "stopped"));
    writer_.reset();
    return static_cast<double>(std::filesystem::file_size(path_));
  }

 private:
  std::string path_;
  std::unique_ptr<Writer> writer_;
};

}  // namespace memoir::bench
