// What a trace shows of a run: its machines and jobs, by the names that users know.
#pragma once

#include <optional>
#include <set>

#include "analysis/traces/trace_content.hpp"
#include "app/run/run_observer.hpp"

namespace paceline {

/// Returns the processes of a trace. With `nodes`, only those of the main job are selected.
TraceMachine trace_machine(const Machine& machine, const std::optional<std::set<int>>& nodes);

}  // namespace paceline
