#pragma once

// Resolves a plain word: `trend postgres` may mean processes with that comm, user or unit.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "query/args/subject.h"
#include "query/state/state.h"

namespace memoir::query {

struct NameMatch {
  std::string key;  // one of filter_keys()
  std::string value;
  std::vector<const StoredProcess*> members;
};

// Returns the matches of `word` among `processes`: a category, a unit (also without its ".service"), a cgroup or an
// executable (also by the last part of its path), an identity, a comm, a script, a user. If several kinds match the
// same processes, only the first kind in this list is returned. An exact match excludes others. If several names mean
// one program (identity, executable, comm, script), only the one with the most processes is returned.
std::vector<NameMatch> name_matches(std::string_view word, const std::vector<StoredProcess>& processes);

// A word with one meaning becomes that subject; any other subject is returned unchanged. No match is
// ErrorKind::not_found, and the message names the most similar one. Several matches are malformed: the message lists
// them in a form to type, with their PSS at the end of the range.
Result<Subject> choose_subject(const Context& context, Subject subject, const std::vector<StoredProcess>& processes,
                               Range range);

// Returns the --filter expressions of SUBJECT.
Result<std::vector<std::string>> subject_filters(const Context& context);

// Returns the row ids of a state's processes that belong to SUBJECT. All processes belong to the machine.
Result<std::set<std::int64_t>> subject_ids(const Context& context, const State& state);

// Returns the error "'web' may be any of these". `choices` has a row for each match; its last column can be typed as it
// is.
Error ambiguous(const Context& context, std::string_view word, Table choices);

}  // namespace memoir::query
