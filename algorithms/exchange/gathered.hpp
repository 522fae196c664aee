// Gathered messages: every worker receives all messages and forms one value from the decoded ones.
//
// The time is that of an all-gather of the message's bytes. Each worker receives and decodes n
// messages, including its own. All workers form the same value, so it is formed only once here.
#pragma once

#include "algorithms/runtime/worker.hpp"

namespace paceline {

/// Returns `form` applied to the decoded messages of all workers. `v` is the decoded form of this
/// worker's message, which weighs `size`.
Task<Vector> gather(Worker& self, Vector v, Bytes size, AllGather how, Form form);

}  // namespace paceline
