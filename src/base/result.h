#pragma once

// A value or the error that prevented it. Functions that access the outside world (kernel files, the store, a
// configuration) return Result; exceptions are left to start-up and to libraries, and are caught where they enter. g++
// 12 has no std::expected in C++20.

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace memoir {

enum class ErrorKind {
  not_found,  // the process or file does not exist (any more): ENOENT, ESRCH
  denied,     // EACCES, EPERM
  malformed,  // the text or value has the wrong form
  blocked,    // no answer within the deadline
  damaged,    // a damaged database of ours
  refused,    // the store rejects this value permanently
  io,         // any other failure of a system call, or of SQLite
};

struct Error {
  ErrorKind kind = ErrorKind::io;
  std::string message;  // a full sentence for humans: names the file or thing, and the remedy
};

struct Done {};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    assert(ok());
    return std::get<0>(state_);
  }
  const T& value() const& {
    assert(ok());
    return std::get<0>(state_);
  }
  T&& value() && {
    assert(ok());
    return std::move(std::get<0>(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const {
    assert(!ok());
    return std::get<1>(state_);
  }
  Error&& take_error() {
    assert(!ok());
    return std::move(std::get<1>(state_));
  }

 private:
  std::variant<T, Error> state_;
};

// An operation without a value.
using Status = Result<Done>;

// Returns the value of a Result; an error ends the function with it. For a Status it is a separate statement.
//
//   const Snapshot snapshot = TRY(reader.snapshot(id));
//
// A statement within an expression is an extension of g++ and clang; use one TRY per expression. Its value lives only
// as long as the expression: name it before a loop over it or over a part of it.
#define TRY(...)                           \
  __extension__({                          \
    auto tried = (__VA_ARGS__);            \
    if (!tried) return tried.take_error(); \
    std::move(tried).value();              \
  })

inline Error malformed(std::string message) {
  return Error{ErrorKind::malformed, std::move(message)};
}

}  // namespace memoir
