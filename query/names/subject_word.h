#pragma once

// What a word alone is about: `trend postgres` may mean those whose comm, user or unit is called so.

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "query/args/subject.h"
#include "query/state/state.h"

namespace memoir::query {

struct Meaning {
  std::string key;  // of filter_keys()
  std::string value;
  std::vector<const StoredProcess*> members;
};

// What among `processes` is called `word`: a category, a unit (without its ".service" too), a cgroup or an executable
// (by the last part of its path too), an identity, a comm, a user. What means the same processes comes once, as the
// first of these.
std::vector<Meaning> meanings_of(std::string_view word, const std::vector<StoredProcess>& processes);

// A word that has one meaning becomes the subject that it means; any other subject stays as it is. None is
// ErrorKind::gone, and the message names the nearest; several are malformed, and the message lists them as they can be
// typed, with their PSS at the end of the range.
Result<Subject> choose_subject(const Context& context, Subject subject, const std::vector<StoredProcess>& processes,
                               Range range);

// The rows of the processes of a state that SUBJECT is about; of the machine those of all.
Result<std::set<std::int64_t>> subject_ids(const Context& context, const State& state);

// "'web' may be any of these": a row of `choices` for each, the last column as it can be typed.
Error ambiguous(const Context& context, std::string_view word, Table choices);

}  // namespace memoir::query
