#pragma once

// A value or the error that prevented it; C++20 has no std::expected. Functions that access the outside world (kernel
// files, the store, a configuration) return a Result. Only start-up code and libraries throw exceptions; callers of a
// library catch them at the call.

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
  std::string message;  // human-readable: names the file or thing, the problem and the remedy
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

// The result of an operation that has no value.
using Status = Result<Done>;

// Evaluates to the value of a Result. If it is an error, returns the error from the enclosing function. TRY of a
// Status is a statement of its own.
//
//   const Snapshot snapshot = TRY(reader.snapshot(id));
//
// Statements within expressions are an extension of g++ and clang; use one TRY per expression. The value lives only as
// long as the expression: assign it to a variable before looping over it or over a part of it.
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
