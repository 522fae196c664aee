// The command line: its commands (app/commands), and how errors are reported. Exit codes: 0 done, 1
// a point failed or results differ, 2 the scenario or the command line is wrong, 128 + N stopped by
// signal N.
#pragma once

#include "app/json/sources.hpp"

namespace paceline {

/// Does what the command line says, and returns the exit code. It writes to the standard streams,
/// blocks signals while a study runs, and `plot` replaces the process: call it once, from the
/// program's only thread. `own` is what the caller brings besides the tables.
int run_program(int argc, const char* const* argv, const OwnParts& own = {});

}  // namespace paceline
