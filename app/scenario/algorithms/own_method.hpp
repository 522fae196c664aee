// A training method that the caller brings, in place of one of the table of algorithms.
//
// The "kind" of such a method has a colon: "my_method.py:dsgd" (app/json/own_parts.hpp).
//
// A method has options of its own, and what every method has: a label, an optimizer, a mixing, a
// wire, and an exchange (codec, aggregation, schedule). Its closed forms are not known, so columns
// that follow from them are empty.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/scenario/algorithms/algorithm_entry.hpp"

namespace paceline {

struct OwnMethod {
    std::vector<std::string> options;  // its keys, besides those that every method has
    AlgorithmTraits traits{};
    /// Checks the options of an algorithm, and returns the method with them. The exchange is that
    /// of the algorithm's "codec", "aggregation" and "schedule". Throws ConfigError.
    std::function<std::function<Task<>(Worker&)>(const Place& algorithm,
                                                 const ExchangeOptions& exchange)>
        make;
    /// The same for each of its servers, if it has any.
    std::function<std::function<Task<>(Worker&)>(const Place& algorithm,
                                                 const ExchangeOptions& exchange)>
        make_server{};
    int servers = 0;  // on nodes of their own, behind the workers
};
using OwnMethodPtr = std::shared_ptr<const OwnMethod>;

/// Returns the method that the algorithm's "kind" names; null if it names one of the table, or
/// none. Throws ConfigError if the kind is of a method that the caller would have to bring.
OwnMethodPtr own_method_of(const Place& algorithm);

/// Reads an algorithm that is such a method. Throws ConfigError.
AlgorithmChoice read_own_method(const OwnMethod& method, const Place& algorithm, AlgorithmInput in);

}  // namespace paceline
