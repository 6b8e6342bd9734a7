// Files that are written whole or not at all.
#pragma once

#include <cstdio>
#include <stdexcept>
#include <string>

namespace hipscope::detail {

/// Writing failed, as on a full disk. Exit status 3.
class WriteError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The path that stands for standard output.
inline constexpr const char* standard_output = "-";

/// Prints `text` to `stream`, stdout or stderr, at once. Throws WriteError.
void print_output(const std::string& text, std::FILE* stream = stdout);

/// Prints "name: sentence" to stderr, as one line. If even that cannot be written, nobody is there
/// to be told.
void print_error(const std::string& name, const std::string& sentence);

/// Throws UsageError unless a file could be written at `path`: its folder exists and can be
/// written to, and `path` is not a folder; or `path` is standard output. Leaves no file there.
void require_writable(const std::string& path);

/// Writes `text` to a new file beside `path` and renames it to `path` when it is whole and on the
/// disk; standard output, and an existing `path` that is no regular file (a pipe, a device), is
/// written to directly.
/// Throws WriteError, leaving `path` as it was.
void write_whole(const std::string& path, const std::string& text);

}  // namespace hipscope::detail
