#include "algorithms/coders/mean_of_senders.hpp"

#include <cstddef>

namespace paceline {

Vector mean_of_senders(const Round<Vector>& round) {
    Vector sum = round.of(0);
    if (!sum.has_values()) return sum;
    Eigen::VectorXd senders = Eigen::VectorXd::Zero(sum.entries());
    for (std::size_t i = 0; i < round.members(); ++i) {
        if (i > 0) sum += round.of(i);
        senders.array() += (round.of(i).values().array() != 0).cast<double>();
    }
    sum.writable().array() /= senders.array().max(1);
    return sum;
}

}  // namespace paceline
