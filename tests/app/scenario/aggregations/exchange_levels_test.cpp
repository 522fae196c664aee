// Exchanges by levels above the machine, from the scenario to models, times and messages.
#include "app/scenario/aggregations/exchange_levels.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <boost/random/uniform_int_distribution.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "algorithms/dense/synchronous_sgd.hpp"
#include "analysis/forms/closed_forms.hpp"
#include "analysis/forms/exchange_forms.hpp"
#include "analysis/forms/inside_forms.hpp"
#include "analysis/forms/neighbor_forms.hpp"
#include "app/json/config_error.hpp"
#include "app/scenario/aggregations/exchange_choice.hpp"
#include "sim/engine/random.hpp"
#include "tests/algorithms/runtime/training_run.hpp"

namespace paceline::exchange_levels_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

const Link link{1_Gbps, 5us};

// One device for each machine; level i is called "l<i>".
WorkerShape shape_of(const std::vector<std::vector<int>>& group_of) {
    WorkerShape shape;
    shape.workers = static_cast<int>(group_of.front().size());
    std::vector<Levels::Named> named;
    for (std::size_t i = 0; i < group_of.size(); ++i)
        named.push_back({fmt::format("l{}", i), [of = group_of[i]](int machine) {
                             return of[static_cast<std::size_t>(machine)];
                         }});
    shape.levels = Levels(shape.workers, std::move(named));
    return shape;
}

ExchangeOptions read(const std::string& aggregation, const WorkerShape& shape) {
    const Json json = Json::parse(aggregation);
    const std::string file = "s.json";
    ExchangeOptions options;
    options.aggregation = read_aggregation_choice({&json, &file, "aggregation"}, shape).plan;
    return options;
}

struct LevelsRun : TrainingRun {
    LevelsRun(int workers, const ExchangeOptions& options, Job job)
        : TrainingRun(workers, link, std::move(job)) {
        spawn_all([&](Worker& self) {
            return synchronous_sgd(self, SynchronousSgdOptions{options, {}});
        });
        simulation.run();
        REQUIRE(processes.finished());
    }
};

class Draw {
  public:
    explicit Draw(unsigned seed) : random_(RandomStreams(seed).stream("levels")) {}
    int operator()(int least, int most) {
        return boost::random::uniform_int_distribution<int>(least, most)(random_);
    }

    // One to three levels, each of fewer groups than the one below. All numbers of groups are used.
    std::vector<std::vector<int>> levels(int workers) {
        std::vector<std::vector<int>> all;
        std::vector<int> below(static_cast<std::size_t>(workers));
        for (int i = 0; i < workers; ++i) below[static_cast<std::size_t>(i)] = i;
        int groups = workers;
        while (groups > 1 && std::ssize(all) < 3) {
            const int coarse = (*this)(1, groups - 1);
            std::vector<int> into;
            for (int i = 0; i < groups; ++i)
                into.push_back(i < coarse ? i : (*this)(0, coarse - 1));
            for (std::size_t i = into.size(); i > 1; --i)
                std::swap(into[i - 1],
                          into[static_cast<std::size_t>((*this)(0, static_cast<int>(i) - 1))]);
            for (int& group : below) group = into[static_cast<std::size_t>(group)];
            all.push_back(below);
            groups = coarse;
        }
        return all;
    }

  private:
    RandomStream random_;
};

// Reads an exchange by all levels: by shards where it can be, if the dice say so.
ExchangeOptions by_all_levels(const WorkerShape& shape, std::size_t levels, Draw& draw) {
    constexpr auto kinds = std::to_array<std::string_view>(
        {R"("kind": "all-reduce")", R"("kind": "all-reduce", "plan": "tree")",
         R"("kind": "all-gather")", R"("kind": "servers", "encoded": "none")"});
    const auto kind = kinds[static_cast<std::size_t>(draw(0, 3))];
    std::vector<std::string> ways(levels, "leaders");
    const auto text = [&] {
        std::string list;
        for (std::size_t i = 0; i < levels; ++i)
            list +=
                fmt::format(R"({}{{"level": "l{}", "by": "{}"}})", i > 0 ? ", " : "", i, ways[i]);
        return fmt::format(R"({{{}, "levels": [{}]}})", kind, list);
    };
    for (std::string& way : ways) {
        if (draw(0, 2) == 0) continue;
        way = "shards";
        try {
            (void)read(text(), shape);
        } catch (const ConfigError&) {  // of groups that differ in size
            way = "leaders";
        }
    }
    INFO(text());
    return read(text(), shape);
}

TEST_CASE("exchange levels, property: over any partitions all workers count alike") {
    int by_shards = 0;
    int scaled = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        Draw draw(seed);
        const int workers = draw(2, 12);
        const auto group_of = draw.levels(workers);
        const ExchangeOptions options = by_all_levels(shape_of(group_of), group_of.size(), draw);
        constexpr std::int64_t steps = 2;

        LevelsRun flat(workers, {}, training_job(small_layout(), steps));
        LevelsRun run(workers, options, training_job(small_layout(), steps));

        for (int rank = 0; rank < workers; ++rank)
            CHECK((run.model_of(rank) - flat.model_of(0)).cwiseAbs().maxCoeff() < 1e-12);
        const StepModelInput in = on_star(workers, idle_star(link), step_of_tests, small_layout());
        CHECK(static_cast<std::int64_t>(run.network.messages_delivered()) ==
              steps * exchange_messages(options, in));
        for (const ExchangeLevel& level : *options.aggregation.levels) {
            by_shards += int{level.by == ByMachine::shards};
            scaled += int{!level.scale.empty()};
        }
    }
    CHECK(by_shards > 20);
    CHECK(scaled > 20);
}

// On a star nothing that goes on at once shares a link.
TEST_CASE("exchange levels: nested shards take a reduce-scatter and an all-gather for each level") {
    const WorkerShape shape =
        shape_of({{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5}, {0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1}});
    const ExchangeOptions options =
        read(R"({"kind": "all-reduce", "levels": [{"level": "l0", "by": "shards"},
                {"level": "l1", "by": "shards"}]})",
             shape);
    const LayoutPtr layout = make_layout({{"weight", {3600}}});
    const Bytes size{4 * 3600};
    const IdleStar star = idle_star(link);

    LevelsRun run(12, options, timing_job(layout, 1));

    CHECK(run.elapsed() == step_of_tests + 2 * ring_reduce_scatter_time(2, size, star) +
                               2 * ring_reduce_scatter_time(3, Bytes{size.count / 2}, star) +
                               ring_all_reduce_time(2, Bytes{size.count / 6}, star));
}

TEST_CASE("exchange levels: leaders of leaders take the time of both levels inside") {
    const WorkerShape shape =
        shape_of({{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5}, {0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1}});
    const ExchangeOptions options =
        read(R"({"kind": "all-reduce", "levels": [{"level": "l0", "by": "leaders"},
                {"level": "l1", "by": "leaders"}]})",
             shape);
    const LayoutPtr layout = make_layout({{"weight", {3600}}});
    const Bytes size{4 * 3600};
    const IdleStar star = idle_star(link);

    LevelsRun run(12, options, timing_job(layout, 1));

    CHECK(run.elapsed() == step_of_tests + 2 * inside_machine_time(2, size, star) +
                               2 * inside_machine_time(3, size, star) +
                               ring_all_reduce_time(2, size, star));
}

// Levels whose groups have the given numbers of members, over workers in any order.
std::vector<std::vector<int>> even_levels(const std::vector<int>& sizes, int groups, Draw& draw) {
    int workers = groups;
    for (const int size : sizes) workers *= size;
    std::vector<int> who(static_cast<std::size_t>(workers));
    for (int i = 0; i < workers; ++i) who[static_cast<std::size_t>(i)] = i;
    for (std::size_t i = who.size(); i > 1; --i)
        std::swap(who[i - 1], who[static_cast<std::size_t>(draw(0, static_cast<int>(i) - 1))]);
    std::vector<std::vector<int>> levels;
    int together = 1;
    for (const int size : sizes) {
        together *= size;
        levels.emplace_back(who.size());
        for (std::size_t i = 0; i < who.size(); ++i)
            levels.back()[static_cast<std::size_t>(who[i])] = static_cast<int>(i) / together;
    }
    return levels;
}

TEST_CASE("exchange levels, property: a hierarchy takes the time and the messages of its form") {
    for (unsigned seed = 0; seed < 30; ++seed) {
        CAPTURE(seed);
        Draw draw(seed);
        std::vector<int> sizes;
        for (int i = draw(1, 3); i > 0; --i) sizes.push_back(draw(2, 3));
        const auto group_of = even_levels(sizes, draw(2, 3), draw);
        const WorkerShape shape = shape_of(group_of);
        std::string names;
        for (std::size_t i = 0; i < sizes.size(); ++i)
            names += fmt::format(R"({}"l{}")", i > 0 ? ", " : "", i);
        const ExchangeOptions options =
            read(fmt::format(R"({{"kind": "all-reduce", "plan": {{"kind": "hierarchical",
                 "levels": [{}]}}}})",
                             names),
                 shape);
        const LayoutPtr layout = make_layout({{"weight", {3 * 3 * 3 * 3 * 16}}});

        LevelsRun run(shape.workers, options, timing_job(layout, 1));

        const StepModelInput in = on_star(shape.workers, idle_star(link), step_of_tests, layout);
        CHECK(run.elapsed() == exchange_step_time(options, 0, in).value());
        CHECK(static_cast<std::int64_t>(run.network.messages_delivered()) ==
              exchange_messages(options, in));
    }
}

TEST_CASE("exchange levels: neighbors are groups of one size whose workers follow one another") {
    const auto plan_by = [](const std::vector<int>& group_of) {
        return read(R"({"kind": "neighbors", "levels": {"level": "l0", "by": "leaders"}})",
                    shape_of({group_of}))
            .aggregation;
    };

    CHECK(plan_by({0, 0, 0, 1, 1, 1}).machines == ByMachine::leaders);
    CHECK(plan_by({0, 0, 0, 1, 1, 1}).devices == 3);
    CHECK_THROWS_AS(plan_by({0, 0, 1, 1, 1, 1}), ConfigError);
    CHECK_THROWS_AS(plan_by({0, 0, 0, 1, 1}), ConfigError);
    CHECK_THROWS_AS(plan_by({0, 1, 0, 1, 0, 1}), ConfigError);
}

TEST_CASE("exchange levels: the machine alone is what \"machines\" says") {
    WorkerShape shape{.workers = 6, .devices_per_node = 2};
    shape.levels = Levels(3, {});
    shape.sizes = MachineSizes(2);

    for (const char* by : {"leaders", "shards"}) {
        const AggregationPlan plan =
            read(fmt::format(
                     R"({{"kind": "all-reduce", "levels": {{"level": "machine", "by": "{}"}}}})",
                     by),
                 shape)
                .aggregation;
        const AggregationPlan said =
            read(fmt::format(R"({{"kind": "all-reduce", "machines": "{}"}})", by), shape)
                .aggregation;

        CHECK(plan.machines == said.machines);
        CHECK(plan.devices == said.devices);
        CHECK(plan.levels == nullptr);
    }
}

}  // namespace
}  // namespace paceline::exchange_levels_test
