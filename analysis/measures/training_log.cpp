#include "analysis/measures/training_log.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "algorithms/runtime/cluster.hpp"
#include "algorithms/runtime/worker.hpp"
#include "models/tensors/algebra.hpp"

namespace paceline {

namespace {

Eigen::VectorXd average(const std::vector<Vector>& models) {
    const Vector& first = models.front();
    if (std::ranges::all_of(models, [&](const Vector& m) { return m.shares_values_with(first); }))
        return first.values();
    Eigen::VectorXd sum = first.values();
    for (std::size_t i = 1; i < models.size(); ++i) sum += models[i].values();
    return sum / static_cast<double>(models.size());
}

// Returns the mean squared distance of the models to a point.
double mean_squared_distance(const std::vector<Vector>& models, const Eigen::VectorXd& point) {
    double total = 0;
    for (const Vector& model : models) total += squared_distance(model.values(), point);
    return total / static_cast<double>(models.size());
}

double per_prediction(double sum, const Score& score) {
    return sum / static_cast<double>(score.predictions);
}

double accuracy_of(const Score& score) {
    if (score.accuracy) return *score.accuracy;
    return per_prediction(static_cast<double>(score.correct), score);
}

}  // namespace

bool Target::holds(const Evaluation& evaluation) const {
    return given() && (!train_loss || evaluation.train_loss <= *train_loss) &&
           (!test_loss || evaluation.test_loss <= *test_loss) &&
           (!test_accuracy || evaluation.test_accuracy.value_or(-1) >= *test_accuracy);
}

TrainingLog::TrainingLog(Simulation& simulation, NetworkPart network, Problem& problem,
                         TrainingLogOptions options)
    : simulation_(simulation), network_(network), problem_(problem), options_(std::move(options)) {}

void TrainingLog::watch(const Cluster& cluster) {
    cluster_ = &cluster;
    if (options_.cadence.time > Duration::zero())
        simulation_.after(options_.cadence.time, action<&TrainingLog::evaluate_by_time>(*this),
                          EventKind::daemon);
}

bool TrainingLog::is_due(std::int64_t k) const {
    const std::int64_t every = options_.cadence.iterations;
    const bool at_the_end = k > 0 && options_.steps == k;  // left to the final models
    return k == 0 || (every > 0 && k % every == 0 && !at_the_end);
}

void TrainingLog::after_steps(int rank, std::int64_t k) {
    if (!is_due(k)) return;
    Snapshot& snapshot = snapshots_.try_emplace(k).first->second;
    snapshot.models.resize(static_cast<std::size_t>(cluster_->workers()));
    std::optional<Vector>& model = snapshot.models[static_cast<std::size_t>(rank)];
    snapshot.there += model ? 0 : 1;
    model = cluster_->worker(rank).current_model();
    if (snapshot.there == cluster_->workers() || cluster_->lives().failures()) evaluate_if_whole(k);
}

void TrainingLog::after_gradients(int rank, std::int64_t /*k*/) {
    gradients_.resize(static_cast<std::size_t>(cluster_->workers()));
    std::int64_t& seen = gradients_[static_cast<std::size_t>(rank)];
    const std::int64_t computed = cluster_->state(rank).gradients;
    all_gradients_ += computed - seen;
    seen = computed;
    if (all_gradients_ < next_evaluation_) return;
    constexpr std::int64_t never_again = std::numeric_limits<std::int64_t>::max();
    const std::int64_t every = options_.cadence.iterations * cluster_->workers();
    next_evaluation_ = every > 0 ? next_evaluation_ + every : never_again;
    evaluate_now();
}

void TrainingLog::after_death() {
    std::vector<std::int64_t> under_way;
    for (const auto& [k, snapshot] : snapshots_) under_way.push_back(k);
    for (const std::int64_t k : under_way) evaluate_if_whole(k);
}

// Returns whether a worker that has not reported its first k steps still will. One that joined
// later will not.
bool TrainingLog::awaits(int rank, std::int64_t k) const {
    return cluster_->lives().present(rank) && cluster_->worker(rank).step() < k;
}

void TrainingLog::evaluate_if_whole(std::int64_t k) {
    const auto found = snapshots_.find(k);
    std::vector<Vector> models;
    for (int rank = 0; rank < cluster_->workers(); ++rank) {
        std::optional<Vector>& model = found->second.models[static_cast<std::size_t>(rank)];
        if (!model && awaits(rank, k)) return;
        if (model) models.push_back(*model);
    }
    snapshots_.erase(found);
    evaluate(models, static_cast<double>(k));
    last_is_of_now_ = std::ranges::equal(
        models, models_now(),
        [](const Vector& a, const Vector& b) { return a.shares_values_with(b); });
}

std::vector<Vector> TrainingLog::models_now() const {
    std::vector<Vector> models;
    for (int rank = 0; rank < cluster_->workers(); ++rank)
        if (cluster_->lives().present(rank))
            models.push_back(cluster_->worker(rank).current_model());
    if (models.empty())  // all are away; they keep their models
        for (int rank = 0; rank < cluster_->workers(); ++rank)
            models.push_back(cluster_->worker(rank).current_model());
    return models;
}

void TrainingLog::evaluate_by_time(std::uint32_t /*unused*/) {
    evaluate_now();
    simulation_.after(options_.cadence.time, action<&TrainingLog::evaluate_by_time>(*this),
                      EventKind::daemon);
}

double TrainingLog::gradients_per_worker() const {
    double gradients = 0;
    for (int rank = 0; rank < cluster_->workers(); ++rank)
        gradients += static_cast<double>(cluster_->state(rank).gradients);
    return gradients / cluster_->workers();
}

void TrainingLog::evaluate_now() {
    if (diverged_) return;
    const double now = to_seconds(simulation_.now().time_since_epoch());
    const double steps = gradients_per_worker();
    if (last_is_of_now_ && evaluations_.back().sim_time_s == now &&
        evaluations_.back().iteration == steps)
        return;
    evaluate(models_now(), steps);
    last_is_of_now_ = true;
}

void TrainingLog::finish() {
    evaluate_now();
}

void TrainingLog::evaluate(const std::vector<Vector>& models, double iteration) {
    const Eigen::VectorXd mean = average(models);
    const Score train = problem_.train_score(mean);
    const Score test = problem_.test_score(mean);
    Evaluation evaluation;
    evaluation.sim_time_s = to_seconds(simulation_.now().time_since_epoch());
    evaluation.iteration = iteration;
    evaluation.train_loss = per_prediction(train.loss, train);
    evaluation.test_loss = per_prediction(test.loss, test);
    if (problem_.classifies()) evaluation.test_accuracy = accuracy_of(test);
    evaluation.consensus_distance = std::sqrt(mean_squared_distance(models, mean));
    if (const auto& minimum = options_.minimum)
        evaluation.relative_error =
            mean_squared_distance(models, *minimum) / squared_norm(*minimum);
    double sent = 0;
    for (int rank = 0; rank < cluster_->workers(); ++rank)
        sent += static_cast<double>(network_.traffic(rank).sent.count);
    evaluation.bytes_sent_per_node = sent / options_.nodes;
    judge(evaluation);
    evaluations_.push_back(evaluation);
    if (options_.evaluated) options_.evaluated(evaluation);
}

void TrainingLog::judge(const Evaluation& evaluation) {
    // Written so that a NaN loss counts as diverged.
    const Evaluation& first = evaluations_.empty() ? evaluation : evaluations_.front();
    if (!(evaluation.train_loss <= most_growth * (1 + first.train_loss)) ||
        !(evaluation.test_loss <= most_growth * (1 + first.test_loss))) {
        diverged_ = true;
        simulation_.stop();
        return;
    }
    if (!time_to_target_s_ && options_.measured.holds(evaluation)) {
        time_to_target_s_ = evaluation.sim_time_s;
        use_at_target_ = device_use(*cluster_, network_, simulation_.now());
    }
    if (options_.stop.holds(evaluation)) {
        stopped_at_target_ = true;
        simulation_.stop();
    }
}

std::optional<LocalAccuracy> TrainingLog::local_accuracy() {
    if (!problem_.classifies()) return std::nullopt;
    const std::vector<Vector> models = models_now();
    LocalAccuracy local{0, 1};
    double accuracy = 0;
    for (std::size_t i = 0; i < models.size(); ++i) {
        if (i == 0 || !models[i].shares_values_with(models[i - 1])) {
            accuracy = accuracy_of(problem_.test_score(models[i].values()));
        }
        local.mean += accuracy / static_cast<double>(models.size());
        local.least = std::min(local.least, accuracy);
    }
    return local;
}

}  // namespace paceline
