#include "app/questions/solve_points.hpp"

#include <utility>

#include "app/run/memory_check.hpp"

namespace paceline {

Evaluate concurrently(StudyOptions options) {
    options.resume = true;
    return [options = std::move(options)](const Study& study) -> Evaluated {
        check_memory(study, static_cast<int>(options.pool.loops));
        StudyOutcome outcome = run_study(study, options);
        if (!outcome.complete) throw SearchStopped{};
        return {std::move(outcome.results), outcome.kept};
    };
}

}  // namespace paceline
