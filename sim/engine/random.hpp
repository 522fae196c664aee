// Named random streams: one seed per run yields any number of independent streams.
//
// stream("batch", rank) depends only on (seed, name, index). A new consumer therefore shifts no
// other stream, and two simulations share nothing. Generator and seeding are portable, and so are
// the Boost distributions that need only basic arithmetic (uniform, Bernoulli, discrete). Boost
// distributions that call exp, log, pow or tan are not portable, because C libraries differ in the
// last bits; use sim/numeric/draws.hpp instead. The standard library's distributions differ between
// vendors.
//
// The generator is L'Ecuyer's combined Tausworthe taus88 (Math. Comp. 65, 1996): period 2^88 and 12
// bytes of state, so thousands of nodes can own several streams each. Its seed is the output of
// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) over an FNV-1a hash of the name. Not for
// cryptography.
#pragma once

#include <cstdint>
#include <string_view>

#include <boost/random/taus88.hpp>

namespace paceline {

using RandomStream = boost::random::taus88;

class RandomStreams {
  public:
    explicit RandomStreams(std::uint64_t seed) : seed_(seed) {}

    [[nodiscard]] RandomStream stream(std::string_view name, std::uint64_t index = 0) const;

  private:
    std::uint64_t seed_;
};

}  // namespace paceline
