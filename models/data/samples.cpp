#include "models/data/samples.hpp"

namespace paceline {

namespace {

template <class Matrix>
void gather_columns(const Matrix& all, std::span<const int> which, Matrix& batch) {
    if (all.size() == 0) return;
    batch.resize(all.rows(), static_cast<Eigen::Index>(which.size()));
    for (std::size_t j = 0; j < which.size(); ++j)
        batch.col(static_cast<Eigen::Index>(j)) = all.col(which[j]);
}

template <class Column>
void gather_entries(const Column& all, std::span<const int> which, Column& batch) {
    if (all.size() == 0) return;
    batch.resize(static_cast<Eigen::Index>(which.size()));
    for (std::size_t j = 0; j < which.size(); ++j)
        batch[static_cast<Eigen::Index>(j)] = all[which[j]];
}

}  // namespace

void gather(const Samples& all, std::span<const int> which, Samples& batch) {
    gather_columns(all.inputs, which, batch.inputs);
    gather_columns(all.tokens, which, batch.tokens);
    gather_entries(all.labels, which, batch.labels);
    gather_entries(all.targets, which, batch.targets);
}

}  // namespace paceline
