#pragma once

// A value or the error that stood in its way. Functions that meet the outside world (kernel files, the store, a
// configuration) return Result; exceptions are left to start-up and to libraries, and are caught where they enter.
// g++ 12 has no std::expected in C++20.

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace memoir {

enum class ErrorKind {
  gone,       // the process or file is not there (any more): ENOENT, ESRCH
  denied,     // EACCES, EPERM
  malformed,  // the text or value is not what it must be
  blocked,    // no answer within the deadline
  damaged,    // a database of ours that is not whole any more
  refused,    // the store does not accept this value, and would not accept it later
  io,         // any other failure of a system call, or of SQLite
};

struct Error {
  ErrorKind kind = ErrorKind::io;
  std::string message;  // a whole sentence for a person: names the file or thing, and how to fix it
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

// An operation that yields nothing but its success.
using Status = Result<Done>;

// What a Result holds; an error ends the function with it. Of a Status, a statement of its own.
//
//   const Snapshot snapshot = TRY(reader.snapshot(id));
//
// A statement within an expression is an extension of g++ and clang; one TRY to an expression. What it yields lives no
// longer than that: give it a name before you loop over it or take a part of it.
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
