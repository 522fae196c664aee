// The "model" of a workload: a net built for a data set.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/json/object_reader.hpp"
#include "models/data/partition.hpp"
#include "models/problem.hpp"

namespace paceline {

struct ModelChoice {
    std::string name;
    LayoutPtr layout;
    std::vector<double> tensor_macs;  // forward pass, per sample
    double activations = 0;           // numbers that its layers put out for one sample
    std::function<std::unique_ptr<Problem>(std::shared_ptr<const Dataset>, ProblemOptions)> problem;
    /// Returns the minimum from a closed form; empty where none is known.
    std::function<Eigen::VectorXd(const Dataset&, const Shards&, double weight_decay,
                                  const std::vector<double>& weights)>
        minimum;
};

struct ModelEntry {
    std::string_view name;
    std::string_view summary;
    Keys keys;
    ModelChoice (*read)(const ObjectReader& read, const DataShape& data);
};

std::span<const ModelEntry> model_table();

/// Throws ConfigError.
ModelChoice read_model(const Place& place, const DataShape& data);

}  // namespace paceline
