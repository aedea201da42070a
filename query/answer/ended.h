#pragma once

// Processes that ended, as the kernel told: those that are kept one by one, and the sums of the others. What no tick
// saw is among them.

#include <string>
#include <vector>

#include "query/answer/command.h"
#include "query/ask/filter.h"
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
  std::vector<EndedProcess> kept;  // in the order of their ends
  std::vector<EndedOthers> others;
};

Result<Ended> load_ended(Reader& reader, Range range, const Filter& filter);

// One alone, without names.
EndSum sum_of(const ProcessEnd& end);

// "exit 0", "exit 1", "SIGKILL", "SIGSEGV (core)".
std::string how_ended(std::int32_t exit_code);

// That the range, or a part of it, has no ends because nobody told of them, and that some were lost. Empty: it has all.
std::vector<std::string> ends_missing(const EndTotals& told);

}  // namespace memoir::query
