#include "base/cached_file.h"

#include <sys/resource.h>

namespace memoir {
namespace {

constexpr rlim_t kReservedDescriptors = 64;

}  // namespace

std::size_t raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlim_t soft = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = soft;
  if (limit.rlim_cur <= kReservedDescriptors) return 0;
  return static_cast<std::size_t>(limit.rlim_cur - kReservedDescriptors);
}

CachedFile& CachedFile::operator=(CachedFile&& other) noexcept {
  if (this != &other) {
    close();
    budget_ = other.budget_;
    fd_ = std::move(other.fd_);
  }
  return *this;
}

void CachedFile::close() {
  if (!kept()) return;
  fd_.reset();
  budget_->give();
}

}  // namespace memoir
