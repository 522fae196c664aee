// The reader of "low-rank" and its row, which would stand in app/scenario/workload/models.cpp.
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "examples/adding/low_rank.hpp"
#include "examples/adding/rows.hpp"

namespace paceline {

namespace {

constexpr auto low_rank_keys = std::to_array<std::string_view>({"kind", "rank"});

// Not convex, so it computes in float.
ModelChoice read_low_rank(const ObjectReader& read, const DataShape& data) {
    if (data.predicts != Prediction::label) read.place().refuse("needs data of labels");
    LowRankShape shape{data.features, 4, data.classes};
    if (const auto p = read.optional("rank")) shape.rank = as_integer(*p, 1, 1'000'000);
    std::unique_ptr<Net<float>> net = make_low_rank<float>(shape);
    ModelChoice choice;
    choice.layout = net->layout();
    choice.tensor_macs = net->tensor_macs();
    choice.problem = [prototype = std::shared_ptr<const Net<float>>(std::move(net))](
                         std::shared_ptr<const Dataset> data, ProblemOptions options) {
        return make_problem<float>(prototype->clone(), std::move(data), std::move(options));
    };
    return choice;
}

constexpr auto models = std::to_array<ModelEntry>({
    {"low-rank", "softmax regression through a bottleneck", low_rank_keys, &read_low_rank},
});

}  // namespace

std::span<const ModelEntry> example_models() {
    return models;
}

}  // namespace paceline
