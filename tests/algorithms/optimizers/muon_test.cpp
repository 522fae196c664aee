// Muon against the singular value decomposition, which it never computes, and a serial AdamW.
#include "algorithms/optimizers/muon.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <random>

#include <Eigen/SVD>
#include <doctest/doctest.h>

namespace paceline::muon_test {
namespace {

using Matrix = Eigen::MatrixXd;

Matrix drawn(Eigen::Index rows, Eigen::Index columns, std::mt19937& random) {
    std::normal_distribution<double> normal;
    return Matrix::NullaryExpr(rows, columns, [&](auto, auto) { return normal(random); });
}

// What five rounds make of a singular value (muon.hpp; the numbers of the two releases).
double after_rounds(double s, MuonForm form) {
    struct Round {
        double a, b, c;
    };
    constexpr std::array<Round, 5> dion{{{4.0848, -6.8946, 2.9270},
                                         {3.9505, -6.3029, 2.6377},
                                         {3.7418, -5.5913, 2.3037},
                                         {2.8769, -3.1427, 1.2046},
                                         {2.8366, -3.0525, 1.2012}}};
    for (const Round& round : dion) {
        const auto [a, b, c] = form == MuonForm::muon ? Round{3.4445, -4.7750, 2.0315} : round;
        s = a * s + b * s * s * s + c * s * s * s * s * s;
    }
    return s;
}

// U S' V^T by the decomposition, of any shape.
Matrix by_decomposition(const Matrix& u, MuonForm form) {
    const Eigen::JacobiSVD<Matrix> svd(u, Eigen::ComputeThinU | Eigen::ComputeThinV);
    const Eigen::VectorXd s = svd.singularValues() / (u.norm() + 1e-7);
    const Eigen::VectorXd after = s.unaryExpr([&](double v) { return after_rounds(v, form); });
    return svd.matrixU() * after.asDiagonal() * svd.matrixV().transpose();
}

TEST_CASE("muon, property: singular values pass through the polynomials, vectors stay") {
    std::mt19937 random(3);
    for (int i = 0; i < 60; ++i) {
        CAPTURE(i);
        const Eigen::Index columns = 1 + i % 7;
        const Matrix u = drawn(columns + i % 5, columns, random);
        for (const MuonForm form : {MuonForm::muon, MuonForm::dion}) {
            const Matrix o = nearly_orthogonal(u, form);
            CHECK((o - by_decomposition(u, form)).cwiseAbs().maxCoeff() < 1e-9);
        }
    }
}

TEST_CASE("muon: singular values from a hundredth of the norm on come near 1") {
    for (double s = 0.01; s <= 1; s += 1e-3) {
        CHECK(after_rounds(s, MuonForm::muon) > 0.68);
        CHECK(after_rounds(s, MuonForm::muon) < 1.14);
        CHECK(after_rounds(s, MuonForm::dion) > 0.97);
        CHECK(after_rounds(s, MuonForm::dion) < 1.04);
    }
}

// A wide matrix, a filter that is seen as 4 rows, a tall matrix, and what takes AdamW.
LayoutPtr layout() {
    return std::make_shared<const Layout>(std::vector<Tensor>{{"wide", {3, 8}},
                                                              {"filter", {4, 2, 3}},
                                                              {"bias", {5}},
                                                              {"tall", {6, 2}},
                                                              {"head", {2, 3}}});
}

// A step after another as released code takes it, tensor by tensor, with the decomposition.
struct Serial {
    MuonRule rule;
    Eigen::VectorXd x, m, v;
    int steps = 0;

    void matrix(Eigen::Index begin, Eigen::Index rows, Eigen::Index columns,
                const Eigen::VectorXd& g, double gamma) {
        Matrix u(rows, columns);
        for (Eigen::Index e = 0; e < rows * columns; ++e) {
            double& buffer = m(begin + e);
            buffer += (1 - rule.momentum) * (g(begin + e) - buffer);
            u(e / columns, e % columns) =
                rule.nesterov ? g(begin + e) + rule.momentum * (buffer - g(begin + e)) : buffer;
        }
        const double aspect = static_cast<double>(rows) / static_cast<double>(columns);
        const double scale =
            std::sqrt(rule.form == MuonForm::muon ? std::max(1.0, aspect) : aspect);
        const Matrix o = scale * by_decomposition(u, rule.form);
        for (Eigen::Index e = 0; e < rows * columns; ++e)
            x(begin + e) = x(begin + e) * (1 - gamma * rule.adam.weight_decay) -
                           gamma * o(e / columns, e % columns);
    }
    void adam(Eigen::Index begin, Eigen::Index entries, const Eigen::VectorXd& g, double gamma) {
        for (Eigen::Index e = begin; e < begin + entries; ++e) {
            m(e) += (1 - rule.adam.beta1) * (g(e) - m(e));
            v(e) += (1 - rule.adam.beta2) * (g(e) * g(e) - v(e));
            const double mean = m(e) / (1 - std::pow(rule.adam.beta1, steps));
            const double square = v(e) / (1 - std::pow(rule.adam.beta2, steps));
            x(e) -= gamma * (rule.adam.weight_decay * x(e) +
                             mean / (std::sqrt(square) + rule.adam.epsilon));
        }
    }
};

TEST_CASE("muon: steps are those of released code, of wide, tall and folded tensors") {
    std::mt19937 random(5);
    for (const MuonForm form : {MuonForm::muon, MuonForm::dion})
        for (const bool nesterov : {true, false}) {
            MuonRule rule;
            rule.form = form;
            rule.nesterov = nesterov;
            rule.adam = {.beta2 = 0.95, .epsilon = 1e-10, .weight_decay = 0.02};
            rule.adam_rate = 0.3;
            const Eigen::Index entries = layout()->entries();
            Vector x(layout(), drawn(entries, 1, random));
            Vector m(layout(), Eigen::VectorXd::Zero(entries));
            Vector v = m;
            Serial serial{rule, x.values(), m.values(), v.values()};
            for (int k = 1; k <= 6; ++k) {
                const Vector g(layout(), drawn(entries, 1, random));
                const double gamma = 0.1 / k;
                muon_step(rule, gamma, k, g, m, v, x);
                ++serial.steps;
                serial.matrix(0, 3, 8, g.values(), gamma);
                serial.matrix(24, 4, 6, g.values(), gamma);
                serial.adam(48, 5, g.values(), 0.3 * gamma);
                serial.matrix(53, 6, 2, g.values(), gamma);
                serial.adam(65, 6, g.values(), 0.3 * gamma);  // the last matrix
                CHECK((x.values() - serial.x).cwiseAbs().maxCoeff() < 1e-9);
            }
        }
}

TEST_CASE("muon: a list says which tensors take AdamW; one of all makes it AdamW") {
    std::mt19937 random(7);
    const Eigen::Index entries = layout()->entries();
    const Vector start(layout(), drawn(entries, 1, random));
    const Vector g(layout(), drawn(entries, 1, random));
    const Vector zero(layout(), Eigen::VectorXd::Zero(entries));
    MuonRule rule;
    rule.leave_out = std::vector<TensorChoice>{"wide", "filter", "tall", std::int64_t{-1}};
    Vector x = start, m = zero, v = zero;
    muon_step(rule, 0.1, 1, g, m, v, x);
    Vector y = start, m_adam = zero, v_adam = zero;
    adam_step(rule.adam, 0.1, 1, g, m_adam, v_adam, y);
    CHECK(x.values() == y.values());

    rule.leave_out.emplace();  // none: the head is a matrix, too
    Vector z = start;
    m = v = zero;
    muon_step(rule, 0.1, 1, g, m, v, z);
    CHECK((z.values() - y.values()).tail(6).cwiseAbs().maxCoeff() > 0.01);
    CHECK(z.values().segment(48, 5) == y.values().segment(48, 5));  // the bias never is
}

}  // namespace
}  // namespace paceline::muon_test
