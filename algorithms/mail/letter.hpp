// A letter: the message of methods without rounds, sent from one worker to another.
//
// A letter goes to a numbered box of the receiving worker. Letters stay there in the order of
// delivery until they are taken out. The algorithm decides what each box is for.
#pragma once

#include <optional>

#include "models/tensors/vector.hpp"

namespace paceline {

struct Letter {
    std::optional<Vector> vector{};  // a snapshot taken when the letter is sent
    double number = 0;
    int from = 0;                    // set when it is posted, like the next
    int life = 0;                    // of the sender (Worker::life)
    std::optional<Vector> second{};  // another one that travels in the same message
};

}  // namespace paceline
