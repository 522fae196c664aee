// Prints the rows of the table of papers in docs/algorithms.md as JSON, for
// tools/make_papers_table.py. With --cases it
// prints the difference of each case instead, with --steps also that of each step; a name after it
// chooses an algorithm.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/scenario/algorithms/algorithms.hpp"
#include "tests/papers/papers.hpp"

namespace paceline::papers {
namespace {

// Prints the difference of each node's model (columns) at each step (rows), for a closer look.
void print_steps(const Case& run) {
    const History product = run_product(*run.algorithm, run.setting);
    const History reference = run.reference(run);
    for (std::size_t k = 0; k < reference.size(); ++k) {
        fmt::print("{:5}", k);
        for (Eigen::Index i = 0; i < reference[k].cols(); ++i)
            fmt::print(" {:9.1e}",
                       (product[k].col(i) - reference[k].col(i)).lpNorm<Eigen::Infinity>());
        fmt::print("\n");
    }
}

void print_cases(std::string_view chosen, bool steps) {
    for (const Paper& paper : all_papers())
        if (paper.algorithm.starts_with(chosen))
            for (const Case& run : paper.cases()) {
                fmt::print("{:22} {:50} {:.2e}\n", paper.algorithm, run.name, difference(run));
                if (steps) print_steps(run);
            }
}

// Rounds up to a power of ten, and to 1e-12 at least: the digits below differ between machines.
std::string bound(double difference) {
    const double digits = std::max(-12.0, std::ceil(std::log10(std::max(difference, 1e-300))));
    return fmt::format("< 1e{:.0f}", digits);
}

void print_rows() {
    Json rows = Json::array();
    for (const Paper& paper : all_papers())
        rows.push_back({{"algorithm", paper.algorithm},
                        {"source", algorithm_entry(paper.algorithm).paper},
                        {"variant", paper.variant},
                        {"deviations", paper.deviations},
                        {"difference", bound(largest_difference(paper))}});
    fmt::print("{}\n", rows.dump(1));
}

}  // namespace
}  // namespace paceline::papers

int main(int count, char** arguments) {
    const std::string_view what = count > 1 ? arguments[1] : "";
    if (what == "--cases" || what == "--steps")
        paceline::papers::print_cases(count > 2 ? arguments[2] : "", what == "--steps");
    else
        paceline::papers::print_rows();
}
