#include "sim/compute/compute_time.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace paceline {

namespace {

// Several kinds of phases at once. Their factors are multiplied, and a joint phase ends with the
// first phase to end.
class JointPhases {
  public:
    JointPhases(const std::vector<PhasesOf>& laws, int rank, Time begin) {
        for (const PhasesOf& law : laws) {
            next_.push_back(law(rank, begin));
            now_.push_back(next_.back()());
        }
    }

    [[nodiscard]] Phase now() const {
        Phase joint;
        for (const Phase& phase : now_) {
            joint.factor *= phase.factor;
            joint.until = std::min(joint.until, phase.until);
        }
        return joint;
    }
    void pass(Time until) {
        for (std::size_t i = 0; i < now_.size(); ++i)
            if (now_[i].until == until) now_[i] = next_[i]();
    }

  private:
    std::vector<Phases> next_;
    std::vector<Phase> now_;
};

// Returns how long work of `work_ps` nominal picoseconds takes if it begins at `begin`.
Duration through_phases(double work_ps, JointPhases phases, Time begin) {
    for (Time at = begin;;) {
        const Phase phase = phases.now();
        const double rest_s = work_ps * phase.factor / static_cast<double>(Duration::period::den);
        const Duration rest = from_seconds(rest_s);
        if (phase.until == never || rest <= phase.until - at) return sum(at - begin, rest);
        work_ps -= static_cast<double>((phase.until - at).count()) / phase.factor;
        at = phase.until;
        phases.pass(at);
    }
}

}  // namespace

bool ChosenNodes::has(int rank) const {
    return nodes.empty() || std::ranges::binary_search(nodes, node_of(rank));
}

ComputeTime make_compute_time(ComputeParts parts) {
    if (parts.steps.empty() && parts.phases.empty()) return nullptr;
    return [parts = std::move(parts)](int rank, std::int64_t k, Time begin, Duration nominal) {
        double factor = 1;
        for (const StepFactor& law : parts.steps) factor *= law(rank, k);
        if (!parts.phases.empty())
            return through_phases(factor * static_cast<double>(nominal.count()),
                                  {parts.phases, rank, begin}, begin);
        return factor == 1 ? nominal : from_seconds(factor * to_seconds(nominal));
    };
}

}  // namespace paceline
