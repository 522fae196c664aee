#include "algorithms/optimizers/muon.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "models/tensors/algebra.hpp"
#include "sim/engine/check.hpp"

namespace paceline {

namespace {

struct Polynomial {  // a x + b x^3 + c x^5 of a singular value
    double a;
    double b;
    double c;
};

constexpr std::size_t rounds = 5;
constexpr Polynomial steep{3.4445, -4.7750, 2.0315};
constexpr std::array<Polynomial, rounds> of_muon{steep, steep, steep, steep, steep};
constexpr std::array<Polynomial, rounds> of_dion{{{4.0848, -6.8946, 2.9270},
                                                  {3.9505, -6.3029, 2.6377},
                                                  {3.7418, -5.5913, 2.3037},
                                                  {2.8769, -3.1427, 1.2046},
                                                  {2.8366, -3.0525, 1.2012}}};

double scale_of(MuonForm form, Eigen::Index rows, Eigen::Index columns) {
    const double aspect = static_cast<double>(rows) / static_cast<double>(columns);
    return std::sqrt(form == MuonForm::muon ? std::max(1.0, aspect) : aspect);
}

// A tensor as a matrix, row after row.
using Rows = Eigen::Map<RowMajorMatrix>;
using ConstRows = Eigen::Map<const RowMajorMatrix>;

void step_of_matrix(const MuonRule& rule, double gamma, const ConstRows& g, Rows m, Rows x) {
    m = rule.momentum * m + (1 - rule.momentum) * g;
    RowMajorMatrix u = m;
    if (rule.nesterov) u = rule.momentum * m + (1 - rule.momentum) * g;
    const bool is_wide = u.rows() < u.cols();
    const Eigen::MatrixXd tall = is_wide ? Eigen::MatrixXd(u.transpose()) : Eigen::MatrixXd(u);
    const Eigen::MatrixXd y = nearly_orthogonal(tall, rule.form);
    const RowMajorMatrix o = is_wide ? RowMajorMatrix(y.transpose()) : RowMajorMatrix(y);
    x *= 1 - gamma * rule.adam.weight_decay;
    x -= gamma * scale_of(rule.form, u.rows(), u.cols()) * o;
}

// Returns the tensors that are matrices here, in sequence.
std::vector<std::size_t> matrices_of(const MuonRule& rule, const Layout& layout) {
    std::vector<bool> is_matrix;
    for (const Tensor& tensor : layout.tensors()) is_matrix.push_back(tensor.shape.size() >= 2);
    if (rule.leave_out)
        for (const TensorChoice& choice : *rule.leave_out)
            for (const std::size_t l : chosen_tensors(layout, choice)) is_matrix[l] = false;
    std::vector<std::size_t> found;
    for (std::size_t l = 0; l < is_matrix.size(); ++l)
        if (is_matrix[l]) found.push_back(l);
    if (!rule.leave_out && !found.empty()) found.pop_back();
    return found;
}

}  // namespace

Eigen::MatrixXd nearly_orthogonal(const Eigen::MatrixXd& u, MuonForm form) {
    PACELINE_CHECK(u.rows() >= u.cols(), "a tall matrix, or a square one");
    // X is the transpose of this y, so that X X^T is a product of columns.
    Eigen::MatrixXd y = u / (norm(u.reshaped()) + 1e-7);
    for (const auto& [a, b, c] : form == MuonForm::muon ? of_muon : of_dion) {
        const Eigen::MatrixXd square = transposed_product(y, y);
        const Eigen::MatrixXd factor = b * square + c * transposed_product(square, square);
        y = a * y + transposed_product(y.transpose(), factor);
    }
    return y;
}

void muon_step(const MuonRule& rule, double gamma, std::int64_t step, const Vector& g, Vector& m,
               Vector& v, Vector& x) {
    if (!g.has_values()) return;
    const Layout& layout = *x.layout();
    const std::vector<std::size_t> matrices = matrices_of(rule, layout);
    // AdamW takes its step with all tensors; what it does to matrices is put back.
    const Eigen::VectorXd model = x.values();
    const Eigen::VectorXd momentum = m.values();
    adam_step(rule.adam, gamma * rule.adam_rate, step, g, m, v, x);
    for (const std::size_t l : matrices) {
        const Eigen::Index begin = layout.offset(l);
        const Eigen::Index entries = layout.tensors()[l].entries();
        const Eigen::Index rows = layout.tensors()[l].shape.front();
        const Eigen::Index columns = entries / rows;
        x.writable().segment(begin, entries) = model.segment(begin, entries);
        m.writable().segment(begin, entries) = momentum.segment(begin, entries);
        v.writable().segment(begin, entries).setZero();
        step_of_matrix(rule, gamma, ConstRows(g.values().data() + begin, rows, columns),
                       Rows(m.writable().data() + begin, rows, columns),
                       Rows(x.writable().data() + begin, rows, columns));
    }
}

}  // namespace paceline
