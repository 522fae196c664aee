#include "tests/papers/papers.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

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
    for (const auto list : {&dense_papers,
                            &lars_papers,
                            &dgc_papers,
                            &gradient_dropping_papers,
                            &gtop_k_papers,
                            &exchange_papers,
                            &compressed_sgd_papers,
                            &sign_papers,
                            &power_sgd_papers,
                            &demo_papers,
                            &choco_papers,
                            &adam_papers,
                            &one_bit_adam_papers,
                            &one_bit_lamb_papers,
                            &zero_one_adam_papers,
                            &one_bit_sgd_papers,
                            &local_sgd_papers,
                            &slowmo_papers,
                            &bmuf_papers,
                            &diloco_papers,
                            &streaming_diloco_papers,
                            &local_adam_papers,
                            &sparta_papers,
                            &overlapped_average_papers,
                            &easgd_papers,
                            &dsgd_papers,
                            &dmsgd_papers,
                            &bias_corrected_papers,
                            &momentum_tracking_papers,
                            &momentum_consensus_papers,
                            &push_sum_papers,
                            &ad_psgd_papers,
                            &swarm_papers,
                            &server_papers,
                            &fedavg_papers,
                            &fedopt_papers,
                            &scaffold_papers}) {
        const std::span<const Paper> papers = list();
        all.insert(all.end(), papers.begin(), papers.end());
    }
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
