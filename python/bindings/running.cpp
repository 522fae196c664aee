#include "python/bindings/running.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "algorithms/runtime/cluster.hpp"
#include "app/run/run_point.hpp"
#include "app/study/results_folder.hpp"

namespace paceline::python {

void StandingOfStudy::follow(const StudyProgress* progress, std::size_t points) {
    const std::scoped_lock lock(mutex_);
    if (progress_ != nullptr) last_ = {progress_->done(), points, progress_->line()};
    progress_ = progress;
    last_.points = points;
}

Standing StandingOfStudy::now() const {
    const std::scoped_lock lock(mutex_);
    if (progress_ == nullptr) return last_;
    return {progress_->done(), last_.points, progress_->line()};
}

namespace {

using Clock = std::chrono::steady_clock;

Models models_of(const Cluster& cluster) {
    Models models;
    for (int rank = 0; rank < cluster.workers(); ++rank) {
        const Vector& model = cluster.worker(rank).current_model();
        if (!model.has_values()) return {};
        models.layout = model.layout();
        ++models.workers;
        models.values.insert(models.values.end(), model.values().begin(), model.values().end());
    }
    return models;
}

// The models of points that several threads run.
class KeptModels {
  public:
    Metrics run(std::size_t point, const Scenario& scenario, Progress* progress) {
        Observer observer;
        observer.ends = [&](const Cluster& cluster) {
            Models models = models_of(cluster);
            const std::scoped_lock lock(mutex_);
            if (models.workers > 0) models_[point] = std::move(models);
        };
        return run_point(scenario, progress, {}, &observer);
    }

    std::map<std::size_t, Models> take() { return std::move(models_); }

  private:
    std::mutex mutex_;
    std::map<std::size_t, Models> models_;
};

// Takes the folder for results. Throws OutputError.
void take_folder(std::optional<OwnFolder>& own, const RunRequest& request) {
    own.emplace(request.out, "paceline.run of Python");
    if (!request.force && !request.resume) own->refuse_another(request.read->study.file);
}

RunAll run_all_and_tell(const RunRequest& request, StandingOfStudy& standing, KeptModels& kept) {
    return [&](const StudyRuns& runs, const PoolSize& size, const RunExchange& exchange,
               StudyProgress& progress, const std::stop_token& stop) {
        RunExchange own = exchange;
        if (request.models)
            own.run = [&](std::size_t run, const Scenario& scenario, Progress* progress) {
                return run < runs.points() ? kept.run(run, scenario, progress)
                                           : run_point(scenario, progress);
            };
        standing.follow(&progress, runs.points());
        try {
            run_side_by_side(runs, size, own, progress, stop);
        } catch (...) {
            standing.follow(nullptr, runs.points());
            throw;
        }
        standing.follow(nullptr, runs.points());
    };
}

bool any_was_run(const std::vector<PointResult>& results) {
    return std::ranges::any_of(results,
                               [](const PointResult& r) { return !r.metrics.outcome.empty(); });
}

RanStudyPtr ran_study(const RunRequest& request, StandingOfStudy& standing,
                      const std::stop_token& stop) {
    const auto begin = Clock::now();
    const Study& study = request.read->study;
    std::optional<OwnFolder> own;
    if (!request.out.empty()) take_folder(own, request);
    KeptModels kept;
    StudyOptions options;
    options.pool = request.pool;
    options.run_all = run_all_and_tell(request, standing, kept);
    if (own) options.keep_in = own->path() / "points";
    options.resume = request.resume;
    options.stop = stop;

    RanStudy ran;
    ran.read = request.read;
    ran.outcome = run_study(study, options);
    ran.models = kept.take();
    ran.warnings = ran.outcome.warnings;
    if (own && !own->warning().empty()) ran.warnings.push_back(own->warning());
    ran.info = {static_cast<int>(options.pool.loops),
                std::chrono::duration<double>(Clock::now() - begin).count(), ran.outcome.complete};
    if (own && any_was_run(ran.outcome.results)) {
        replace_results(own->path(), study, ran.outcome.results, ran.info);
        std::error_code ignored;
        std::filesystem::remove(own->path() / "links.csv", ignored);  // of another run
    }
    return std::make_shared<const RanStudy>(std::move(ran));
}

}  // namespace

RunJob::RunJob(RunRequest request)
    : RunJob(std::move(request), std::make_shared<StandingOfStudy>()) {}

RunJob::RunJob(RunRequest request, std::shared_ptr<StandingOfStudy> standing)
    : JobFor([request = std::move(request), standing](const std::stop_token& stop) {
          return ran_study(request, *standing, stop);
      }),
      standing_(std::move(standing)) {}

}  // namespace paceline::python
