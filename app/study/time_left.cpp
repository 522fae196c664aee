#include "app/study/time_left.hpp"

#include <algorithm>

namespace paceline {

void TimeLeft::finished(double expected_s, double spent_s) {
    done_s_ += expected_s;
    spent_s_ += spent_s;
}

double TimeLeft::seconds(std::span<const UnderWay> under_way, std::size_t threads) const {
    double done = done_s_;
    double spent = spent_s_;
    for (const UnderWay& run : under_way) {
        done += run.expected_s * run.share_done;
        if (run.share_done > 0) spent += run.spent_s;
    }
    const double rest = std::max(0.0, expected_s_ - done);
    if (rest == 0) return 0;  // all points may be kept from before
    const double prior = std::min(1.0, 0.01 * expected_s_);
    const double factor = (prior + spent) / (prior + done);
    return factor * rest / static_cast<double>(std::max<std::size_t>(1, threads));
}

}  // namespace paceline
