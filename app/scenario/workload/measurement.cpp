#include "app/scenario/workload/measurement.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "sim/engine/read_decimal.hpp"

namespace paceline {

namespace {

constexpr auto all_measurement_keys = std::to_array<std::string_view>(
    {"every", "samples", "target_loss", "target_test_loss", "target_accuracy", "baseline", "skip",
     "alone", "resources", "spread", "interval", "draws"});

constexpr std::int64_t most_skipped = std::int64_t{1} << 40;

// Returns the number before " iterations" or " epochs"; nothing if the text has another form.
std::optional<double> counted(std::string_view text, std::string_view unit) {
    if (!text.ends_with(unit)) return std::nullopt;
    const std::string_view digits = text.substr(0, text.size() - unit.size());
    double number = 0;
    const auto [end, error] = read_decimal(digits, number);
    if (error != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(number))
        return std::nullopt;
    return number;
}

void read_every(const Place& place, Measurement& measurement) {
    const std::string text = as_string(place);
    constexpr double most = 1e12;
    if (const auto epochs = counted(text, " epochs")) {
        if (*epochs <= 0 || *epochs > most) place.refuse("is not a positive number of epochs");
        measurement.every_epochs = epochs;
    } else if (const auto steps = counted(text, " iterations")) {
        if (*steps < 1 || *steps > most || *steps != std::floor(*steps))
            place.refuse("is not a whole number of iterations, 1 or more");
        measurement.every.iterations = static_cast<std::int64_t>(*steps);
    } else if (text.ends_with("epoch") || text.ends_with("iteration")) {
        place.refuse("write \"1 epochs\" or \"1 iterations\"");
    } else {
        measurement.every.time = as_duration(place);
        if (measurement.every.time == Duration::zero()) place.refuse("must be above 0");
    }
}

}  // namespace

Keys measurement_keys() {
    return all_measurement_keys;
}

Cadence Measurement::cadence(double steps_per_epoch) const {
    if (!every_epochs) return every;
    return {std::max<std::int64_t>(1, std::llround(*every_epochs * steps_per_epoch)), {}};
}

Target read_target(const ObjectReader& read) {
    Target target;
    if (const auto p = read.optional("target_loss"))
        target.train_loss = as_number_above(*p, 0, 1e9);
    if (const auto p = read.optional("target_test_loss"))
        target.test_loss = as_number_above(*p, 0, 1e9);
    if (const auto p = read.optional("target_accuracy"))
        target.test_accuracy = as_number_above(*p, 0, 1);
    return target;
}

Measurement read_measurement(const Place& place) {
    const ObjectReader read(place, all_measurement_keys);
    Measurement measurement;
    if (const auto p = read.optional("every")) {
        read_every(*p, measurement);
        measurement.every_is_given = true;
    }
    if (const auto p = read.optional("samples"))
        measurement.samples = as_integer(*p, 1, std::int64_t{1} << 40);
    if (const auto p = read.optional("baseline")) measurement.baseline = as_bool(*p);
    if (const auto p = read.optional("skip")) measurement.skip = as_integer(*p, 0, most_skipped);
    if (const auto p = read.optional("alone")) measurement.alone = as_bool(*p);
    if (const auto p = read.optional("spread")) measurement.spread = as_bool(*p);
    if (const auto p = read.optional("interval"))
        measurement.interval = as_bool(*p);
    else
        measurement.interval = read.optional("draws").has_value();
    if (const auto p = read.optional("resources")) measurement.resources = as_bool(*p);
    measurement.target = read_target(read);
    return measurement;
}

}  // namespace paceline
