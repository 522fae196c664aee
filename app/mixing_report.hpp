// What `paceline check` says of the mixings of a study: how fast they forget, and whether their
// algorithms can live with them.
//
// Warnings are for the user: a mixing is allowed, whatever it leads to, because showing it may be
// the point of a study.
//   DecentLaM  symmetric, static W: without gradients each eigenvalue lambda of W has z^2 - (beta +
//              lambda) z + beta = 0, stable for real lambda alone; and what momentum remembers of
//              one W does not belong to the next.
//   D2         lambda_n > -1/3: z^2 - 2 lambda z + lambda = 0.
#pragma once

#include <string>
#include <vector>

#include "app/study.hpp"

namespace paceline {

/// A line for each distinct mixing of the study, then its warnings; empty if it has none.
std::string mixing_text(const Study& study);

/// Of all points, each once, in their order.
std::vector<std::string> mixing_warnings(const Study& study);

}  // namespace paceline
