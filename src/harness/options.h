// The command line, by CLI11.
#pragma once

#include <optional>

#include "record.h"

namespace hipscope::detail {

/// What parsing came to: go on with these options, or end with this status at once.
struct ParsedCommandLine {
  Options options;
  std::optional<int> exit_status;
};

/// Parses the common options and `experiment`'s sizes. Help and version go to stdout and end with
/// status 0. Throws UsageError on a mistake, WriteError when stdout cannot be written.
ParsedCommandLine parse_command_line(ExperimentRecord& experiment, int argc, char** argv);

/// Sets every size to what the user gave, or to its default for this preset, this kind of device
/// and its bytes of memory. Throws UsageError on a size that is no number or out of its range.
void resolve_sizes(ExperimentRecord& experiment, const Options& options, bool is_hardware,
                   std::uint64_t memory_bytes);

/// The declared sweeps that `filter` (an ECMAScript regular expression, found anywhere in a sweep's
/// name; empty: all) selects, in order. Throws UsageError on a malformed one or one that selects
/// nothing.
std::vector<const SweepDeclaration*> select_sweeps(const ExperimentRecord& experiment,
                                                   const Options& options);

/// The stopping rule that the options ask for.
StoppingRule stopping_rule(const Options& options, bool is_hardware);

}  // namespace hipscope::detail
