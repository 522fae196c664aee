#include "app/run/nccl_pieces.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/run/step_costs.hpp"
#include "app/study/study_file.hpp"
#include "tests/app/host/temporary_folder.hpp"

namespace paceline::nccl_pieces_test {
namespace {

// AlexNet on 8 nodes: tensors of 384 bytes to 151 MB.
Study alexnet(const std::string& algorithm) {
    const TemporaryFolder folder;
    return read_study(folder.write("scenario.json", fmt::format(R"({{
        "cluster": {{"nodes": 8, "library": "nccl", "fabric": {{"kind": "star",
            "link": {{"bandwidth": "10Gbps", "latency": "10us"}}}}}},
        "workload": {{"profile": "alexnet", "step_time": "90ms"}},
        "algorithm": {}, "stop": {{"iterations": 1}}}})",
                                                                algorithm)),
                      {});
}

TEST_CASE("NCCL's buckets: each is of a kind, which goes by the largest of it") {
    const Study study =
        alexnet(R"({"kind": "dense-overlapped", "all_reduce": "library", "bucket": "4kB"})");
    const Scenario& scenario = study.points[0].scenario;
    const std::vector<NcclPieces> all = nccl_pieces(scenario);
    CHECK(all.size() > 1);
    std::size_t buckets = 0;
    for (const NcclPieces& pieces : all) {
        buckets += static_cast<std::size_t>(pieces.count);
        const NcclChoice own = nccl_choice(scenario.algorithm.all_reduce->library,
                                           Nccl::Operation::all_reduce, pieces.largest, 8);
        CHECK(own.estimate == pieces.choice.estimate);
        const NcclChoice least = nccl_choice(scenario.algorithm.all_reduce->library,
                                             Nccl::Operation::all_reduce, pieces.smallest, 8);
        CHECK(least.algorithm == own.algorithm);
        CHECK(least.protocol == own.protocol);
    }
    CHECK(buckets == step_timing(scenario).buckets.size());
}

TEST_CASE("NCCL's buckets: a gradient that goes at once is one, and others' are none") {
    const auto pieces_of = [](const std::string& algorithm) {
        return nccl_pieces(alexnet(algorithm).points[0].scenario);
    };
    const std::vector<NcclPieces> whole =
        pieces_of(R"({"kind": "dense", "all_reduce": "library"})");
    REQUIRE(whole.size() == 1);
    CHECK(whole[0].count == 1);
    CHECK(whole[0].smallest == whole[0].largest);
    CHECK(pieces_of(R"({"kind": "dense", "all_reduce": "ring"})").empty());
    CHECK(pieces_of(R"({"kind": "dgc"})").empty());
}

}  // namespace
}  // namespace paceline::nccl_pieces_test
