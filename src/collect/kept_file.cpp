#include "collect/kept_file.h"

#include <utility>

namespace memoir {

KeptFile& KeptFile::operator=(KeptFile&& other) noexcept {
  if (this != &other) {
    close();
    file_ = other.file_;
    budget_ = other.budget_;
    fd_ = std::move(other.fd_);
  }
  return *this;
}

Result<std::string_view> KeptFile::read(const ProcFs& proc, std::int32_t pid, Buffer& buffer) {
  if (kept()) return read_all(fd_, buffer, "a kept file");
  Result<Fd> opened = proc.open(pid, file_);
  if (!opened) return opened.error();
  Result<std::string_view> text = read_all(*opened, buffer, proc.path(pid, file_));
  if (text && budget_->take()) fd_ = *std::move(opened);
  return text;
}

void KeptFile::close() {
  if (!kept()) return;
  fd_.reset();
  budget_->give();
}

}  // namespace memoir
