#pragma once

// High-water marks in the store. Each tick appends the marks that it raises to the table raised_mark, which changes
// few pages. Periodically the highest of them move to the table mark, where each subject, metric and day has one row.
// Readers read both.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "store/marks/mark.h"
#include "store/sqlite/statement.h"
#include "store/types.h"

namespace memoir {

class MarkTable {
 public:
  explicit MarkTable(SQLite::Database& database);

  // Returns the number of appended marks.
  std::size_t append(const std::vector<Mark>& raised);
  // Moves appended marks to the marks of days and of all time.
  void merge();

 private:
  // A row of raised_mark.
  struct Raised {
    std::int64_t day = 0;
    std::int64_t subject = 0;
    std::int64_t subject_id = 0;
    std::int64_t metric = 0;
    std::int64_t value_kib = 0;
    std::int64_t after_ms = 0;
    std::int64_t before_ms = 0;
    std::int64_t seen_by = 0;
  };

  bool is_all_time(const Raised& mark);

  Statement append_;
  Statement raised_;
  Statement raise_;
  Statement first_ms_;
  Statement keep_first_day_;
  Statement clear_;
};

// A range of UTC days, or all time.
struct MarkDays {
  std::int64_t from = kAllTime;
  std::int64_t to = kAllTime;
};

// Returns the marks of these days and kinds, sorted by day, subject and metric.
std::vector<HighWater> load_marks(SQLite::Database& database, MarkDays days, const std::set<SubjectKind>& kinds);

// Returns the `most` highest marks of a process metric, one per process (Reader::process_marks).
ProcessMarks load_process_marks(SQLite::Database& database, MarkDays days, std::optional<Range> reached, Metric metric,
                                std::size_t most);

// Returns the all-time marks of one process.
std::vector<HighWater> load_marks_of_process(SQLite::Database& database, std::int64_t process_id);

// Returns the names of the categories, identities or cgroups, by row id; an empty map for other kinds.
std::map<std::int64_t, std::string> load_group_names(SQLite::Database& database, SubjectKind kind);

}  // namespace memoir
