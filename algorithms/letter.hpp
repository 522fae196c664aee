// A letter: what workers of methods without rounds send one another.
//
// Letters go to a numbered box of another worker and lie there, in the order of delivery, until
// they are taken out. What a box is for is the algorithm's own affair.
#pragma once

#include <optional>

#include "models/vector.hpp"

namespace paceline {

struct Letter {
    std::optional<Vector> vector{};  // a snapshot: what it was when it was sent
    double number = 0;
    int from = 0;  // filled in by the post
};

}  // namespace paceline
