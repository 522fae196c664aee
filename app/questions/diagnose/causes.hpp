// What can make two nodes slower than one, as a table: how each cause changes a scenario, which
// values it may have, and which of them are usual.
//
// A cause is a quantity, such as a bandwidth, whose value is searched, or it is there or not, such
// as buckets that are not sent beside backward. Its usual values are log-normal; `usual_source`
// says where they are from. Values beyond its limits are tried too, to tell what the numbers would
// need, and are never plausible.
//
// To add a cause: a function in causes.cpp that makes it, or says why the scenario cannot have it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/questions/diagnose/diagnosed_point.hpp"
#include "app/questions/diagnose/evidence.hpp"
#include "app/questions/varied_quantity.hpp"

namespace paceline {

struct Cause {
    std::string key;                         // "bandwidth"
    std::string name;                        // "bandwidth of the links"
    std::string what;                        // a sentence about it
    std::optional<VariedQuantity> quantity;  // with its limits; empty: it is there or not
    ValueLaw usual{};                        // of ln of the value
    std::string usual_source{};
    std::string limit{};  // why values beyond are not possible; empty: they are not tried
    double beyond = 1;    // the factor up to which values above the limit are tried
    /// Puts it into the scenario of a point.
    std::function<void(Json& scenario, double value, const DiagnosedPoint& point)> put{};
    /// Returns its value in words: "1.63Gbps, 4.1 % of 40Gbps".
    std::function<std::string(double value)> shown{};
};

/// A cause that the scenario cannot have.
struct ImpossibleCause {
    std::string key;
    std::string name;
    std::string why;
};

struct Causes {
    std::vector<Cause> possible{};
    std::vector<ImpossibleCause> impossible{};
};

/// Returns the causes of a scenario. `compute_is_measured`: a row says how long a gradient takes.
Causes causes_of(const DiagnosedPoint& point, const Scenario& scenario, bool compute_is_measured);

}  // namespace paceline
