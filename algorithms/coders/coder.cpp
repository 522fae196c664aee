#include "algorithms/coders/coder.hpp"

#include "sim/engine/check.hpp"

namespace paceline {

Vector Coder::take_message() {
    PACELINE_CHECK(false, "messages of this codec are not complete before they travel");
}

}  // namespace paceline
