#include "query/history/row_plan.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "query/state/process_columns.h"
#include "store/names.h"

namespace memoir::query {
namespace {

// Updates the value by which rows are ranked: the highest value, or the sum of memory over time.
double raised(double value, RowRank rank, const Interval& interval) {
  const auto kib = static_cast<double>(interval.mean.value_or(0));
  if (rank == RowRank::highest) return std::max(value, interval.max ? static_cast<double>(*interval.max) : kib);
  return value + kib * static_cast<double>(std::max<std::int64_t>(interval.covered_ms, 1));
}

// Keeps the largest rows. `visit_all` visits the intervals of all rows.
Status bound_rows(Reader& reader, RowPlan& plan, RowRank rank,
                  const std::function<Status(const VisitRow&)>& visit_all) {
  std::vector<double> values;
  TRY(visit_all([&](std::size_t row, const SubjectInterval& of, bool) {
    if (row >= values.size()) values.resize(plan.rows().size());
    values[row] = raised(values[row], rank, of.interval);
  }));
  values.resize(plan.rows().size());
  return plan.keep_largest(reader, values);
}

}  // namespace

void RowPlan::add(const StoredProcess& process) {
  // Rows after the first max_rows_ are added without name and process. load_rows() loads both for the rows it keeps.
  if (filter_->matches(process)) place(process, rows_.size() < max_rows_);
}

void RowPlan::add_marked(const StoredProcess& process, std::int64_t mark_kib) {
  if (!filter_->matches(process)) return;
  if (marked_ < max_rows_) {
    ++marked_;
    return place(process, true);
  }
  if (find(process.id) == nullptr) ++left_out_.count;
  left_out_.highest_kib = std::max(left_out_.highest_kib, mark_kib);
}

void RowPlan::place(const StoredProcess& process, bool described) {
  const bool alone = group_ == "process";
  std::string name = !alone ? group_key(process, group_) : described ? shown_command(process.info, '?') : std::string();
  const std::size_t row = alone ? rows_.size() : by_name_.try_emplace(name, rows_.size()).first->second;
  if (row == rows_.size())
    rows_.push_back({std::move(name), alone && described ? std::make_shared<const StoredProcess>(process) : nullptr});
  ++rows_[row].processes;
  const auto [place, fresh] = places_.try_emplace(process.id);
  if (!fresh && place->second.row == kLeftOut) --left_out_.count;
  place->second = {row, process.exited_ms};
}

std::size_t RowPlan::add_group(const std::string& name, std::int64_t processes) {
  whole_ = true;
  if (closed_ && !by_name_.contains(name)) return kLeftOut;
  const std::size_t row = by_name_.try_emplace(name, rows_.size()).first->second;
  if (row == rows_.size()) rows_.push_back({name, nullptr});
  rows_[row].processes = std::max(rows_[row].processes, processes);
  return row;
}

Status RowPlan::keep_largest(Reader& reader, const std::vector<double>& values) {
  closed_ = true;
  if (rows_.size() <= max_rows_) return load_rows(reader);
  std::vector<std::size_t> order(rows_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(max_rows_);
  std::nth_element(order.begin(), end, order.end(),
                   [&values](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  std::sort(order.begin(), end);
  left_out_.count += rows_.size() - max_rows_;
  left_out_.highest_kib = static_cast<std::int64_t>(values[*end]);
  std::vector<std::size_t> kept(rows_.size(), kLeftOut);
  std::vector<PlannedRow> rows;
  rows.reserve(max_rows_);
  for (auto row = order.begin(); row != end; ++row) {
    kept[*row] = rows.size();
    rows.push_back(std::move(rows_[*row]));
  }
  rows_ = std::move(rows);
  for (auto& [id, place] : places_) place.row = kept[place.row];
  for (auto& [name, row] : by_name_) row = kept[row];
  std::erase_if(by_name_, [](const auto& entry) { return entry.second == kLeftOut; });
  return load_rows(reader);
}

// Loads the processes of the kept rows.
Status RowPlan::load_rows(Reader& reader) {
  std::vector<std::int64_t> ids;
  if (group_ == "process") {
    for (const auto& [id, place] : places_) {
      if (place.row != kLeftOut && rows_[place.row].process == nullptr) ids.push_back(id);
    }
  }
  std::ranges::sort(ids);
  return visit_processes_by_id(reader, ids, [this](const StoredProcess& process) {
    PlannedRow& row = rows_[places_.at(process.id).row];
    row.name = shown_command(process.info, '?');
    row.process = std::make_shared<const StoredProcess>(process);
  });
}

const RowPlan::Place* RowPlan::find(std::int64_t process_id) const {
  const auto found = places_.find(process_id);
  return found == places_.end() ? nullptr : &found->second;
}

std::optional<std::int64_t> RowPlan::processes() const {
  return whole_ ? std::nullopt : std::optional(static_cast<std::int64_t>(places_.size()));
}

std::optional<SubjectKind> RowPlan::whole_kind(Tier tier) const {
  return filter_->takes_all() ? kept_kind(tier, group_) : std::nullopt;
}

Result<bool> visit_rows(Reader& reader, HistoryQuery question, RowPlan& plan, RowRank rank, const VisitRow& visit,
                        const VisitInterval& excluded) {
  if (const auto kind = plan.whole_kind(question.tier)) {
    question.kind = *kind;
    const GroupNames names = TRY(load_group_names(reader, *kind));
    const auto all = [&](const VisitRow& each) {
      return visit_groups(reader, question, names, [&](const std::string& name, const SubjectInterval& of) {
        each(plan.add_group(name, of.processes), of, false);
      });
    };
    if (names.size() > plan.max_rows()) TRY(bound_rows(reader, plan, rank, all));
    TRY(all(visit));
    return false;
  }
  const ProcessHistory history =
      TRY(ProcessHistory::load(reader, question, [&plan](const StoredProcess& process) { plan.add(process); }));
  const auto all = [&](const VisitRow& each, const VisitInterval& other) {
    return history.visit([&](const SubjectInterval& of) {
      const RowPlan::Place* const place = plan.find(of.subject_id);
      place == nullptr ? other(of) : each(place->row, of, place->exited_ms == of.interval.until_ms);
    });
  };
  if (plan.rows().size() > plan.max_rows()) {
    TRY(bound_rows(reader, plan, rank,
                   [&all](const VisitRow& each) { return all(each, [](const SubjectInterval&) {}); }));
  }
  TRY(all(visit, excluded));
  return history.complete();
}

}  // namespace memoir::query
