#pragma once

// Runs of a recorder on a simulated machine, written to one file.

#include <cstddef>
#include <memory>

#include "store_fixture.h"
#include "support/simulation.h"

namespace memoir::test {

class SimulatedRun {
 public:
  explicit SimulatedRun(const SimulationOptions& options) : simulation_(options) { begin(); }

  void begin() {
    writer_ = fixture_.writer();
    must(writer_->begin_run(run_info(simulation_.boot(), simulation_.now())));
  }
  void end() {
    must(writer_->end_run(simulation_.now(), "stopped"));
    writer_.reset();
  }

 protected:
  StoreFixture fixture_;
  Simulation simulation_;
  std::unique_ptr<Writer> writer_;
};

}  // namespace memoir::test
