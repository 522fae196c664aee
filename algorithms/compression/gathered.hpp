// Messages that everybody gets from all: an all-gather, and one value formed of what they decode to.
//
// The time is that of an all-gather of the message's bytes; each worker receives and decodes n
// messages, its own included, and all form the same value of them, which is formed once here.
#pragma once

#include "algorithms/worker.hpp"

namespace paceline {

/// `form` of what all workers decode, v being what they decode of this one's message of `size`.
Task<Vector> gather(Worker& self, Vector v, Bytes size, AllGather how, Form form);

}  // namespace paceline
