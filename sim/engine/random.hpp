// Named random streams: one seed of a run, any number of independent streams drawn from it.
//
// stream("batch", rank) depends on (seed, name, index) and on nothing else, so a new consumer
// shifts no other, and two simulations share nothing. Generator and seeding are portable. So are
// those of Boost's distributions that need nothing but basic arithmetic (uniform, Bernoulli,
// discrete). Those that call exp, log, pow or tan are not, as C libraries differ in last bits:
// sim/numeric/draws.hpp has portable ones. The standard library's differ between vendors.
//
// The generator is L'Ecuyer's combined Tausworthe taus88 (Math. Comp. 65, 1996): period 2^88, 12
// bytes of state, so that thousands of nodes can own several streams each. Its seed is the output
// of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) over an FNV-1a hash of the name. Not for
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
