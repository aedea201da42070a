#pragma once

// Inserts System V segments and their samples.

#include <cstdint>

#include "model/segment.h"
#include "store/sqlite/statement.h"

namespace memoir {

class SegmentRows {
 public:
  explicit SegmentRows(SQLite::Database& database);

  // The row of the segment; a new one if there is none.
  std::int64_t id(std::int64_t boot_id, const SysvSegment& segment, std::int64_t at_ms);
  void insert(std::int64_t tick_id, std::int64_t segment_id, const SysvSegment& segment);
  void insert_gone(std::int64_t tick_id, std::int64_t segment_id) { gone_.run(tick_id, segment_id); }

 private:
  Statement find_;
  Statement insert_;
  Statement sample_;
  Statement gone_;
};

}  // namespace memoir
