#include "app/scenario/algorithms/optimizer.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/schema.hpp"

namespace paceline {

namespace {

constexpr auto decays = std::to_array<Spelling<Decay>>(
    {{"constant", Decay::constant}, {"step", Decay::step}, {"cosine", Decay::cosine}});

void read_milestones(const ObjectReader& read, Schedule& schedule) {
    const Place place = read.required("milestones", "shares of the run, such as [0.5, 0.75]");
    if (!place.json->is_array() || place.json->empty())
        place.refuse("is not a list of shares of the run, such as [0.5, 0.75]");
    for (std::size_t i = 0; i < place.json->size(); ++i) {
        const Place one = place.element(i);
        schedule.milestones.push_back(as_number_above(one, 0, 1));
        if (i > 0 && schedule.milestones[i] <= schedule.milestones[i - 1])
            one.refuse("is not above the previous one");
    }
    if (const auto p = read.optional("factor")) schedule.factor = as_number_above(*p, 0, 1);
}

void read_schedule(const Place& place, Schedule& schedule) {
    const ObjectReader read(place, definition_keys("schedule"));
    if (const auto p = read.optional("kind")) schedule.decay = as_choice(*p, "a schedule", decays);
    if (const auto p = read.optional("warm_up")) schedule.warm_up = as_share(*p);
    if (schedule.decay == Decay::step) {
        read_milestones(read, schedule);
    } else {
        for (const char* key : {"milestones", "factor"})
            if (const auto p = read.optional(key)) p->refuse("is for the schedule \"step\" alone");
    }
    if (const auto p = read.optional("reference_batch"))
        schedule.reference_batch = as_integer(*p, 1, std::int64_t{1} << 40);
}

}  // namespace

Optimizer read_optimizer(const Place& place) {
    const ObjectReader read(place, definition_keys("optimizer"));
    Optimizer of_its_own;
    of_its_own.schedule.learning_rate =
        as_number_above(read.required("learning_rate", "the step size, such as 0.1"), 0, 1e9);
    return read_optimizer(place, std::move(of_its_own));
}

Optimizer read_optimizer(const Place& place, Optimizer otherwise) {
    const ObjectReader read(place, definition_keys("optimizer"));
    Optimizer optimizer = std::move(otherwise);
    if (const auto p = read.optional("learning_rate"))
        optimizer.schedule.learning_rate = as_number_above(*p, 0, 1e9);
    if (const auto p = read.optional("momentum")) optimizer.momentum = as_share(*p);
    if (const auto p = read.optional("nesterov")) optimizer.nesterov = as_bool(*p);
    if (const auto p = read.optional("weight_decay"))
        optimizer.weight_decay = as_number_up_to(*p, 1e3);
    if (const auto p = read.optional("clip")) optimizer.clip = as_number_up_to(*p, 1e12);
    if (const auto p = read.optional("schedule")) {
        optimizer.schedule = Schedule{.learning_rate = optimizer.schedule.learning_rate};
        read_schedule(*p, optimizer.schedule);
    }
    return optimizer;
}

}  // namespace paceline
