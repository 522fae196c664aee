// A random stream for Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include <boost/random/bernoulli_distribution.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <boost/random/uniform_real_distribution.hpp>

#include "sim/engine/random.hpp"
#include "sim/numeric/draws.hpp"

namespace paceline::python {

class Draws {
  public:
    explicit Draws(RandomStream stream) : stream_(stream) {}

    std::int64_t integer(std::int64_t low, std::int64_t high) {
        if (low > high) throw std::invalid_argument("low is above high");
        const auto width = static_cast<std::size_t>(high - low);
        boost::random::uniform_int_distribution<std::size_t> any(0, width);
        return low + static_cast<std::int64_t>(any(stream_));
    }
    bool bernoulli(double p) {
        if (!(p >= 0 && p <= 1)) throw std::invalid_argument("a probability is from 0 to 1");
        return boost::random::bernoulli_distribution<double>(p)(stream_);
    }
    double uniform() { return boost::random::uniform_real_distribution<double>()(stream_); }
    double normal() { return draw_normal(stream_); }
    std::uint32_t bits() { return static_cast<std::uint32_t>(stream_()); }

    /// Returns the stream, to go on with.
    [[nodiscard]] const RandomStream& stream() const { return stream_; }

  private:
    RandomStream stream_;
};

}  // namespace paceline::python
