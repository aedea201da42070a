#pragma once

// The rows of an answer over a range: processes or groups. Their intervals are the same for ticks and for rollups.

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "query/args/filter.h"
#include "query/history/history.h"

namespace memoir::query {

struct PlannedRow {
  std::string name;                              // name of the group, or command of the process
  std::shared_ptr<const StoredProcess> process;  // set for a row of one process
  std::int64_t processes = 0;  // number in the range; for a group with its own rollups, the maximum at one time
};

// Rows omitted because there were too many.
struct LeftOutRows {
  std::size_t count = 0;
  std::int64_t highest_kib = 0;  // highest value of these rows, if rows are ranked by it
};

// Puts the processes that a filter accepts into rows of --group.
class RowPlan {
 public:
  // Maximum number of rows: more do not fit into memory, and only the largest are kept.
  static constexpr std::size_t kMaxRows = 20'000;
  // The row of a subject that was left out.
  static constexpr std::size_t kLeftOut = std::numeric_limits<std::size_t>::max();

  struct Place {
    std::size_t row = 0;
    std::optional<std::int64_t> exited_ms;  // when the process exited
  };

  RowPlan(std::string group, const Filter& filter, std::size_t max_rows = kMaxRows)
      : group_(std::move(group)), filter_(&filter), max_rows_(max_rows) {}

  void add(const StoredProcess& process);
  // Adds a process that no tick observed, or that has a mark above the memory of all omitted rows. Processes must be
  // added in descending order of their marks.
  void add_marked(const StoredProcess& process, std::int64_t mark_kib);
  // Adds a group with its own rollups, of which at most `processes` ran at one time. Returns its row, or kLeftOut.
  std::size_t add_group(const std::string& name, std::int64_t processes);

  // Returns nullptr if the filter excludes the process.
  const Place* find(std::int64_t process_id) const;

  std::size_t max_rows() const { return max_rows_; }
  // Keeps the rows with the largest values; `values` has one for each row.
  Status keep_largest(Reader& reader, const std::vector<double>& values);
  const LeftOutRows& left_out() const { return left_out_; }

  const std::vector<PlannedRow>& rows() const { return rows_; }
  std::vector<PlannedRow> take_rows() { return std::move(rows_); }
  // Number of added processes; nullopt for groups with their own rollups.
  std::optional<std::int64_t> processes() const;
  // Returns the kind of the groups if the tier has rollups of them and the filter accepts all processes.
  std::optional<SubjectKind> whole_kind(Tier tier) const;

 private:
  void place(const StoredProcess& process, bool described);
  Status load_rows(Reader& reader);

  std::string group_;
  const Filter* filter_;
  std::size_t max_rows_;
  bool whole_ = false;
  std::size_t marked_ = 0;  // number of rows kept for add_marked()
  bool closed_ = false;     // add_group() adds no more rows
  LeftOutRows left_out_;
  std::vector<PlannedRow> rows_;
  std::unordered_map<std::string, std::size_t> by_name_;
  std::unordered_map<std::int64_t, Place> places_;
};

// The value by which rows are ranked: memory over time, or the highest value.
enum class RowRank { memory, highest };

// Adds the subjects with a history in the range of the query to the plan, and visits their intervals by row. `row` is
// kLeftOut if the row was left out. `gone`: as in GroupSum. `excluded` gets the intervals of processes that the filter
// excludes. Returns false if processes younger than a bucket are missing.
using VisitRow = std::function<void(std::size_t row, const SubjectInterval& of, bool gone)>;
Result<bool> visit_rows(
    Reader& reader, HistoryQuery question, RowPlan& plan, RowRank rank, const VisitRow& visit,
    const VisitInterval& excluded = [](const SubjectInterval&) {});

}  // namespace memoir::query
