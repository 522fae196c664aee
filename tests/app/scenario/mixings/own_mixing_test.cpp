#include "app/scenario/mixings/own_mixing.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/json/own_parts.hpp"
#include "app/scenario/mixings/mixings.hpp"
#include "tests/app/json/in_memory.hpp"

namespace paceline::own_mixing_test {
namespace {

using Rows = std::vector<std::vector<MixingWeight>>;

// Three nodes in a circle; of later steps, node 1 keeps `keeps`.
Sources with_circle(std::int64_t period, double keeps) {
    Sources sources = in_memory({});
    sources.own.mixing = [=](const Place& kind) -> std::shared_ptr<const OwnMixing> {
        if (*kind.json != "mine:circle") return nullptr;
        OwnMixing own;
        own.options = {"give"};
        own.make = [=](const Place& /*mixing*/, int workers) {
            OwnMixing::Made made{"circle", period, {}, {}};
            made.rows = [=](std::int64_t step) {
                Rows rows;
                for (int i = 0; i < workers; ++i) {
                    rows.emplace_back();
                    for (int j = 0; j < workers; ++j)
                        rows.back().push_back(
                            {j, step > 0 && i == 1 && j == 1 ? keeps : 1.0 / workers});
                }
                return rows;
            };
            made.fail = [](std::int64_t step, const std::string& problem) {
                throw std::runtime_error(fmt::format("{}: {}", step, problem));
            };
            return made;
        };
        return std::make_shared<const OwnMixing>(std::move(own));
    };
    return sources;
}

MixingChoice choice_of(const Json& json, const Sources& sources) {
    const std::string file = "scenario";
    return read_mixing({&json, &file, "mixing", &sources}, 3, MixingUse::averages);
}

std::string refusal_of(const Json& json, const Sources& sources) {
    try {
        (void)choice_of(json, sources);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

const Json circle = {{"kind", "mine:circle"}};

TEST_CASE("own mixing: one that stays the same is one of the table") {
    const MixingChoice choice = choice_of(circle, with_circle(1, 0));
    const MixingSchedule schedule = choice.make(1);
    const Mixing complete = make_complete_mixing(3);

    CHECK(schedule.is_static());
    CHECK(choice.degree == 2);
    for (int i = 0; i < 3; ++i) {
        CHECK(schedule.at(7)->listeners(i) == complete.listeners(i));
        for (std::size_t j = 0; j < 3; ++j)
            CHECK(schedule.at(7)->row(i)[j].weight == complete.row(i)[j].weight);
    }
}

TEST_CASE("own mixing: a period is checked before anything runs, and other steps when they come") {
    CHECK(refusal_of(circle, with_circle(2, 0.5)) ==
          "scenario: mixing.kind: W of step 1 is not a mixing: row 1 sums to 1.16666667; the "
          "weights of a node sum to 1");
    CHECK(refusal_of(circle, with_circle(2, -1)).find("row 1 has weight -1 of node 1") !=
          std::string::npos);
    const MixingSchedule drawn = choice_of(circle, with_circle(0, 0.5)).make(1);

    CHECK(drawn.is_drawn());
    CHECK(drawn.at(0)->row(1).size() == 3);
    CHECK_THROWS_WITH(static_cast<void>(drawn.at(1)),
                      "1: row 1 sums to 1.16666667; the weights of a node sum to 1");
}

TEST_CASE("own mixing: options are its own, and who brings none says how it runs") {
    CHECK(refusal_of({{"kind", "mine:circle"}, {"rows", 2}}, with_circle(1, 0))
              .find("known: kind, label, give") != std::string::npos);
    CHECK(refusal_of({{"kind", "mine.py:circle"}}, in_memory({})) ==
          "scenario: mixing.kind: \"mine.py:circle\" is a mixing in Python, which runs in Python "
          "alone: python3 -m paceline run, or paceline.run (docs/how-to/your-own-method.md)");
}

}  // namespace
}  // namespace paceline::own_mixing_test
