#include "tests/papers/papers.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "app/scenario/algorithms/algorithms.hpp"

namespace paceline::papers {

Case::Case(std::string name_, const Json& algorithm_, Setting setting_,
           History (*reference_)(const Case& run))
    : name(std::move(name_)),
      algorithm(std::make_shared<const Json>(algorithm_)),
      setting(std::move(setting_)),
      reference(reference_) {}

Case changed(Case run, const Json& patch) {
    Json algorithm = *run.algorithm;
    algorithm.update(patch);
    run.algorithm = std::make_shared<const Json>(algorithm);
    return run;
}

std::vector<Paper> all_papers() {
    std::vector<Paper> all;
#define LIST(papers) \
    for (const Paper& paper : papers()) all.push_back(paper);
#include "tests/papers/lists.inc"
#undef LIST
    const auto place = [](const Paper& paper) {
        return &algorithm_entry(paper.algorithm) - algorithm_table().data();
    };
    std::ranges::sort(all, {}, place);
    return all;
}

std::vector<Paper> papers_of(std::string_view family) {
    const auto members =
        std::ranges::find(algorithm_families(), family, &AlgorithmFamily::name)->algorithms;
    std::vector<Paper> all = all_papers();
    std::erase_if(all, [&](const Paper& paper) {
        return std::ranges::find(members, paper.algorithm, &AlgorithmEntry::name) == members.end();
    });
    return all;
}

double difference(const Case& run) {
    return largest_difference(run_product(*run.algorithm, run.setting), run.reference(run));
}

double largest_difference(const Paper& paper) {
    double largest = 0;
    for (const Case& run : paper.cases()) largest = std::max(largest, difference(run));
    return largest;
}

}  // namespace paceline::papers
