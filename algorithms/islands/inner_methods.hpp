// The inner methods of islands (islands.hpp): dense and zero, as a device of an island has them.
#pragma once

#include <memory>
#include <variant>

#include "algorithms/dense/zero.hpp"
#include "algorithms/exchange/exchange_options.hpp"
#include "algorithms/runtime/island.hpp"

namespace paceline {

class Worker;

struct IslandOptions {
    IslandMembers members;
    int lanes = 1;  // 1, or the devices of every island
    std::variant<ExchangeOptions, ZeroOptions> inside{};
};

/// Returns the island that a device is in, without a lane and an inner method.
Island island_of(int rank, const IslandOptions& options);

/// Returns the inner method of a device of island `number`. `inside` is the device among those of
/// its island; it and the options must outlive the method.
std::unique_ptr<InnerMethod> inner_method(Worker& inside, const IslandOptions& options, int number);

}  // namespace paceline
