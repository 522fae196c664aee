// Signs as steps, with a = g_i + lambda x:
//
//   Signum     m_i <- beta m_i + (1 - beta) a;  x <- x - gamma sign(sum over i of sign(m_i))
//              a worker's sign(0) is +1; a tie of the vote moves nothing
//              Bernstein et al., ICML 2018, and for the majority vote ICLR 2019
//   EF-sign    p_i = gamma a + e_i;  c_i = mean |p_i| sign(p_i) per tensor;  e_i <- p_i - c_i
//              x <- x - mean of c_i
//              Karimireddy et al., ICML 2019
#include <array>

#include <nlohmann/json.hpp>

#include "tests/papers/papers.hpp"
#include "tests/papers/top_k.hpp"

namespace paceline::papers {

namespace {

History signum(const Case& run) {
    const Setting& s = run.setting;
    Trace trace{s};
    Column x = s.start();
    Models m = Models::Zero(entries, s.nodes);
    for (std::int64_t k = 0; k < s.steps; ++k) {
        forget_returned(s, k, m);
        Column votes = Column::Zero(entries);
        for (const int i : s.members(k)) {
            m.col(i) = s.beta * m.col(i) + (1 - s.beta) * (s.gradient(x, i, k) + s.lambda * x);
            votes += m.col(i).unaryExpr([](double v) { return v >= 0 ? 1.0 : -1.0; });
        }
        x -= s.gamma(k) * votes.cwiseSign();
        trace.note_same(k, x);
    }
    return trace.done();
}

History ef_sign(const Case& run) {
    const Setting& s = run.setting;
    Trace trace{s};
    Column x = s.start();
    Models e = Models::Zero(entries, s.nodes);
    for (std::int64_t k = 0; k < s.steps; ++k) {
        forget_returned(s, k, e);
        Column change = Column::Zero(entries);
        for (const int i : s.members(k)) {
            const Column p = s.gamma(k) * (s.gradient(x, i, k) + s.lambda * x) + e.col(i);
            Column c(entries);
            for (const Part& part : parts()) {
                c.segment(part.begin, part.size()) =
                    scaled_sign(p.segment(part.begin, part.size()));
            }
            e.col(i) = p - c;
            change += c / static_cast<double>(s.members(k).size());
        }
        x -= change;
        trace.note_same(k, x);
    }
    return trace.done();
}

std::vector<Case> cases_of(const char* name, History (*reference)(const Case&)) {
    const Setting failing{.outages = {{1, 9, 17}, {4, 14, 30}}};
    const Json algorithm = {{"kind", name}};
    return {{"five nodes", algorithm, {}, reference},
            {"four nodes, which can tie", algorithm, {.nodes = 4, .beta = 0}, reference},
            {"two nodes die and return", algorithm, failing, reference}};
}

std::vector<Case> of_signum() {
    return cases_of("sign-sgd", &signum);
}
std::vector<Case> of_ef_sign() {
    return cases_of("ef-sign-sgd", &ef_sign);
}

constexpr auto papers = std::to_array<Paper>({
    {"sign-sgd", "Signum with majority vote; beta = 0 is signSGD",
     "lambda x is part of the gradient; votes are gathered, where the paper has a server that "
     "answers with one bit",
     &of_signum},
    {"ef-sign-sgd", "errors in units of steps, a scale per tensor",
     "the mean over nodes; the paper has one worker", &of_ef_sign},
});

}  // namespace

std::span<const Paper> sign_papers() {
    return papers;
}

}  // namespace paceline::papers
