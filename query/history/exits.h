#pragma once

// Processes that ended, as the kernel told: those that are kept one by one, and the sums of the others. What no tick
// saw is among them.

#include <functional>
#include <string>
#include <vector>

#include "query/args/filter.h"
#include "store/reader.h"

namespace memoir::query {

struct EndedProcess {
  StoredProcess process;
  ProcessEnd end;
};

// Several of one name. What is known of them is in the place of a process, for filters and groups.
struct EndedOthers {
  StoredProcess process;
  EndSum sum;
};

StoredProcess stand_in(const EndSum& sum);

struct Ended {
  EndTotals told;
  std::vector<StoredEnd> kept;  // the largest peak first
  std::vector<EndedOthers> others;
};

// Of those that are kept, whatever the filter: who they were is for visit_kept() to say.
Result<Ended> load_ended(Reader& reader, Range range, const Filter& filter);

// Those that the filter takes, in their order, with who they were: some thousand are read at once, for there may be
// very many.
Status visit_kept(Reader& reader, const std::vector<StoredEnd>& kept, const Filter& filter,
                  const std::function<void(const EndedProcess&)>& visit);

// One alone, without names.
EndSum sum_of(const ProcessEnd& end);

// "exit 0", "exit 1", "SIGKILL", "SIGSEGV (core)".
std::string how_ended(std::int32_t exit_code);

// That the range, or a part of it, has no ends because nobody told of them, and that some were lost. Empty: it has all.
std::vector<std::string> ends_missing(const EndTotals& told);

}  // namespace memoir::query
