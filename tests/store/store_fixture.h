#pragma once

// A database in its own directory, and short functions for calls that must succeed.

#include <memory>
#include <set>
#include <string>

#include "store/reader.h"
#include "store/writer.h"
#include "support/catch.h"
#include "support/temporary_directory.h"

namespace memoir::test {

template <typename T>
T must(Result<T> result) {
  if (!result) FAIL(result.error().message);
  return std::move(result).value();
}
inline void must(const Status& status) {
  if (!status) FAIL(status.error().message);
}

inline RunInfo run_info(const BootInfo& boot, Moment started, std::int64_t interval_ms = 10'000) {
  return {boot, 4711, "0.1.0 (test)", interval_ms, started};
}

inline const std::set<SubjectKind> kAllKinds(kSubjectKinds.begin(), kSubjectKinds.end());

class StoreFixture {
 public:
  std::string path() const { return directory_.path() + "/memoir.db"; }
  const std::string& folder() const { return directory_.path(); }
  std::unique_ptr<Writer> writer() const { return must(Writer::open(path(), Durability::normal)); }
  std::unique_ptr<Reader> reader() const { return must(Reader::open(path())); }

 private:
  TemporaryDirectory directory_;
};

}  // namespace memoir::test
