// The mean of each entry over the members that sent it: sparse messages of k entries move the
// entries that one member alone has chosen as far as that member says.
//
// An entry that is 0 in a message counts as not sent. Source: released code of DeMo and of
// SparseLoCo (scatter_reduce with "mean", without what was there).
#pragma once

#include "algorithms/rounds/rounds.hpp"
#include "models/tensors/vector.hpp"

namespace paceline {

[[nodiscard]] Vector mean_of_senders(const Round<Vector>& round);

}  // namespace paceline
