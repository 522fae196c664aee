// Diagnoses of clusters whose cause is known: the numbers come from the simulator, with noise.
#include "app/questions/diagnose/diagnose.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/json/config_error.hpp"
#include "tests/app/json/in_memory.hpp"
#include "tests/app/questions/diagnose/drawn_cases.hpp"

namespace paceline::diagnose_test {
namespace {

// Returns the place of the answer with this cause, from 1 on; 0 if no answer has it.
std::size_t place_of(const std::string& cause, const Diagnosis& found) {
    if (found.are_pairs) return 0;
    for (std::size_t i = 0; i < found.answers.size(); ++i)
        for (const TriedCause& tried : found.answers[i].either)
            if (!tried.causes.empty() && tried.causes.front().key == cause) return i + 1;
    return 0;
}

TEST_CASE("diagnose, property: the cause of drawn cases") {
    const unsigned cases = 200;
    std::map<std::size_t, std::map<std::string, int>> first, third, all;
    const bool verbose = std::getenv("DIAG_VERBOSE") != nullptr;
    std::size_t points = 0;
    for (unsigned seed = 1; seed <= cases; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        const std::string cause = drawn_causes()[seed % drawn_causes().size()];
        const DrawnCase drawn = drawn_case(cause, rng);
        DiagnoseQuestion question;
        question.scenario = {"drawn.json", drawn.believed.dump(), in_memory({})};
        question.advise = false;
        question.measured = {measured_as_asked(drawn, seed % 2 == 0 ? "step" : "throughput", rng),
                             measured_as_asked(drawn, "nodes=1:step", rng)};
        std::size_t place = 0;
        bool over = false;
        for (std::size_t round = 0; round <= 4; ++round) {
            if (!over) {
                const Diagnosis found = diagnose(question, &in_turn);
                place = place_of(cause, found);
                points += found.points;
                if (found.next)
                    question.measured.push_back(measured_as_asked(drawn, found.next->asked, rng));
                else
                    over = true;
                if (verbose && (over || round == 4) && place != 1) {
                    std::string line = fmt::format("seed {} {} place {} pairs {} measured:", seed,
                                                   cause, place, found.are_pairs);
                    for (const auto& m : question.measured) line += " " + m;
                    for (const auto& a : found.answers) {
                        line += fmt::format("\n    {:.3f}", a.share);
                        for (const auto& e : a.either)
                            line += fmt::format(" {} ({}) far {:.2f}",
                                                e.causes.empty() ? "nothing" : e.causes.front().key,
                                                e.causes.empty() ? "" : e.causes.front().value,
                                                e.farthest);
                    }
                    for (const auto& u : found.unfit)
                        line += fmt::format("\n    unfit {} {}", u.key, u.why);
                    line += "\n" + drawn.true_cluster.dump();
                    MESSAGE(line);
                }
            }
            ++all[round][cause];
            first[round][cause] += place == 1;
            third[round][cause] += place >= 1 && place <= 3;
        }
    }
    for (auto& [round, by] : all) {
        int f = 0, t = 0;
        std::string line;
        for (auto& [cause, n] : by) {
            f += first[round][cause];
            t += third[round][cause];
            line += fmt::format(" {} {}/{}/{}", cause, first[round][cause], third[round][cause], n);
        }
        MESSAGE("round ", round, ": first ", f, " third ", t, " of 200 |", line);
    }
    MESSAGE("points ", points);
}

}  // namespace
}  // namespace paceline::diagnose_test
