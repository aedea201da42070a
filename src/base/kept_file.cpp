#include "base/kept_file.h"

#include <utility>

namespace memoir {

KeptFile& KeptFile::operator=(KeptFile&& other) noexcept {
  if (this != &other) {
    close();
    budget_ = other.budget_;
    fd_ = std::move(other.fd_);
  }
  return *this;
}

void KeptFile::close() {
  if (!kept()) return;
  fd_.reset();
  budget_->give();
}

}  // namespace memoir
