// What holds for every row of the table of algorithms, with its required options alone. An
// algorithm that is added is tested here without being named.
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "app/scenario/algorithms/algorithms.hpp"
#include "tests/app/scenario/algorithms/plain_algorithm.hpp"
#include "tests/app/studies/training_study.hpp"

namespace paceline::every_algorithm_test {
namespace {

const TrainingStudy study;

std::vector<std::string> with(const Json& algorithm, std::vector<std::string> more = {}) {
    more.insert(more.begin(), "algorithm=" + algorithm.dump());
    return more;
}

std::optional<ConfigError> refusal(const std::vector<std::string>& settings) {
    try {
        (void)study.scenario(settings);
    } catch (const ConfigError& error) {
        return error;
    }
    return std::nullopt;
}

TEST_CASE("every algorithm: it reads each key that the schema gives it") {
    for (const AlgorithmEntry& entry : algorithm_table())
        for (const std::string_view key : algorithm_keys(entry)) {
            CAPTURE(entry.name);
            CAPTURE(key);
            Json algorithm = plain_algorithm(entry.name);
            algorithm[std::string(key)] = Json::array({Json::array()});  // no key takes this value

            const std::optional<ConfigError> error = refusal(with(algorithm));

            REQUIRE(error.has_value());
            CHECK(error->path() == "--set algorithm." + std::string(key));
        }
}

TEST_CASE("every algorithm: it trains or refuses a model, as its row says") {
    for (const AlgorithmEntry& entry : algorithm_table()) {
        CAPTURE(entry.name);

        CHECK(refusal(with(plain_algorithm(entry.name))).has_value() == !entry.traits.trains);
    }
}

std::vector<AlgorithmEntry> training_algorithms() {
    std::vector<AlgorithmEntry> those;
    for (const AlgorithmEntry& entry : algorithm_table())
        if (entry.traits.trains) those.push_back(entry);
    return those;
}

TEST_CASE("every algorithm: its row says whether it looks ahead and clips, and has a server") {
    for (const AlgorithmEntry& entry : training_algorithms()) {
        CAPTURE(entry.name);
        const Json algorithm = plain_algorithm(entry.name);

        for (const char* setting : {"optimizer.nesterov=true", "optimizer.clip=1"})
            CHECK(refusal(with(algorithm, {setting})).has_value() ==
                  !entry.traits.supports_nesterov_and_clipping);
        CHECK(static_cast<bool>(study.scenario(with(algorithm)).algorithm.serve) ==
              entry.traits.has_server);
    }
}

TEST_CASE("every algorithm: it goes on without a node or refuses to, as its row says") {
    const std::string failures =
        R"(cluster.failures={"schedule": [{"node": 1, "at": "2500us", "for": "3ms"}],
                             "detection": "100us"})";
    for (const AlgorithmEntry& entry : training_algorithms()) {
        CAPTURE(entry.name);
        const std::vector<std::string> settings = with(plain_algorithm(entry.name), {failures});
        const bool stops = entry.traits.when_nodes_die == WhenNodesDie::cannot_go_on;

        CHECK(refusal(settings).has_value() == stops);
        if (stops) continue;
        const Metrics m = study.run(settings);
        CAPTURE(m.outcome_details);
        CHECK(m.outcome == "finished");
        CHECK(m.deaths == 1);
    }
}

TEST_CASE("every algorithm: a run repeats itself, and can be dropped in the middle of a step") {
    for (const AlgorithmEntry& entry : training_algorithms())
        for (const char* stop : {R"(stop={"iterations": 6})", R"(stop={"time": "2500us"})"}) {
            CAPTURE(entry.name);
            CAPTURE(stop);
            const std::vector<std::string> settings = with(plain_algorithm(entry.name), {stop});

            const Metrics one = study.run(settings);
            const Metrics two = study.run(settings);

            CHECK((one.outcome == "finished" || one.outcome == "time-limit"));
            CHECK(one.outcome == two.outcome);
            CHECK(one.sim_time_s == two.sim_time_s);
            CHECK(one.train_loss == two.train_loss);
        }
}

}  // namespace
}  // namespace paceline::every_algorithm_test
