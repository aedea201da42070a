#pragma once

// Which rows of command, cgroup, identity and user a process is of. Found by one look through all processes, some 0.1 s
// for a hundred thousand: an index of `process` by each of them would be written to at each birth, a page of its own
// each time, which is a fifth of all that a recorder writes where many processes live for seconds.

#include <cstdint>
#include <vector>

namespace SQLite {
class Database;
}

namespace memoir {

// Row ids, which are small; what is larger than any recorder comes to, as in a damaged file, counts as in it.
class IdSet {
 public:
  void add(std::int64_t id);
  bool has(std::int64_t id) const;

 private:
  std::vector<bool> ids_;
};

struct StillUsed {
  IdSet commands;
  IdSet cgroups;
  IdSet identities;
  IdSet users;
};

StillUsed read_still_used(SQLite::Database& database);

}  // namespace memoir
