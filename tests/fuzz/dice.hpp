// Random choices from a named stream: the same seed makes the same choices.
#pragma once

#include <cstddef>
#include <vector>

#include <boost/random/uniform_01.hpp>
#include <boost/random/uniform_int_distribution.hpp>

#include "sim/engine/random.hpp"

namespace paceline {

class Dice {
  public:
    explicit Dice(RandomStream stream) : stream_(stream) {}

    std::size_t below(std::size_t bound) {
        return boost::random::uniform_int_distribution<std::size_t>(0, bound - 1)(stream_);
    }
    /// Returns a whole number from `least` to `most`.
    int whole(int least, int most) {
        return least + static_cast<int>(below(static_cast<std::size_t>(most - least) + 1));
    }
    double real(double least, double most) {
        return least + (most - least) * boost::random::uniform_01<double>()(stream_);
    }
    bool chance(double probability) { return real(0, 1) < probability; }
    template <class T>
    const T& pick(const std::vector<T>& values) {
        return values[below(values.size())];
    }

  private:
    RandomStream stream_;
};

}  // namespace paceline
