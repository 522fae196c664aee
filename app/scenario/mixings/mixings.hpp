// The table of mixings by name: who averages with whom in a decentralized algorithm.
//
//   {"kind": "torus", "rows": 4, "lazy": true}
//   {"kind": "explicit", "edges": [[0, 1], [1, 2]], "weights": "metropolis"}
//   {"kind": "explicit", "edges": [[0, 1, 0.25], [1, 2, 0.5]]}        w_01 = w_10 = 0.25, ...
//   {"kind": "explicit", "edges": [[0, 1, 0.5], [1, 0, 0.5]], "directed": true}
//   {"kind": "explicit", "in_turn": [{"edges": [[0, 1]]}, {"edges": [[1, 2]]}]}        changes from
//   step to step {"kind": "explicit", "workers": 3, "edges": [[0, 1], [1, 2]]}           refused
//   for any other number
//
// A directed edge [i, j] says that node i receives from node j. The node itself keeps whatever the
// weights of its row leave of 1, so that rows always sum to 1. Columns that do not sum to 1 are
// refused with their number and sum, unless only the edges are used (push-sum). The "weights" of
// graphs are "metropolis" (default where neighbors are mutual), "uniform", 1 / (d+1), or
// "max-degree", 1 / (d_max + 1).
#pragma once

#include <span>
#include <string_view>

#include "app/json/object_reader.hpp"
#include "app/scenario/mixings/explicit_mixing.hpp"
#include "app/scenario/mixings/mixing_choice.hpp"

namespace paceline {

struct MixingEntry {
    std::string_view name;
    std::string_view summary;
};

std::span<const MixingEntry> mixing_table();

/// Reads "mixing" for this number of workers, `per_machine` of them on each machine (0: machines
/// differ). Throws ConfigError.
MixingChoice read_mixing(const Place& place, int workers, MixingUse use, int per_machine = 1);

}  // namespace paceline
