#include "analysis/fit/what_is_told.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/SVD>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

#include "sim/engine/random.hpp"
#include "sim/numeric/draws.hpp"

namespace paceline {

namespace {

using Eigen::Index;

Eigen::JacobiSVD<Eigen::MatrixXd> decomposed(const Fit& fit) {
    const Index rows = std::max(fit.slopes.rows(), fit.slopes.cols());
    Eigen::MatrixXd slopes = Eigen::MatrixXd::Zero(rows, fit.slopes.cols());
    slopes.topRows(fit.slopes.rows()) = fit.slopes;
    return Eigen::JacobiSVD<Eigen::MatrixXd>(slopes, Eigen::ComputeThinU | Eigen::ComputeFullV);
}

// Returns the leverage of each row.
Eigen::VectorXd leverages(const Fit& fit) {
    const auto svd = decomposed(fit);
    Eigen::VectorXd leverage = Eigen::VectorXd::Zero(fit.slopes.rows());
    const double least = 1e-9 * svd.singularValues()[0];
    for (Index k = 0; k < svd.singularValues().size(); ++k)
        if (svd.singularValues()[k] > least)
            for (Index i = 0; i < leverage.size(); ++i)
                leverage[i] += svd.matrixU()(i, k) * svd.matrixU()(i, k);
    return leverage;
}

}  // namespace

Noise noise_of(const Fit& fit, double if_too_few_rows) {
    const std::ptrdiff_t freedom = fit.residuals.size() - fit.at.size();
    if (freedom < 2) return {if_too_few_rows, true, 0};
    return {std::max(least_noise, std::sqrt(fit.sum / static_cast<double>(freedom))), false,
            freedom};
}

double rise_of(const Noise& noise, double level) {
    const double square = noise.share * noise.share;
    if (noise.is_default) return square * boost::math::quantile(boost::math::chi_squared(1), level);
    const boost::math::fisher_f law(1, static_cast<double>(noise.freedom));
    return square * boost::math::quantile(law, level);
}

std::vector<WeakDirection> weak_directions(const Fit& fit, double rise) {
    const auto svd = decomposed(fit);
    std::vector<WeakDirection> weak;
    for (Index k = fit.at.size() - 1; k >= 0; --k) {
        const double sigma = svd.singularValues()[k];
        const double half_width =
            sigma > 0 ? std::sqrt(rise) / sigma : std::numeric_limits<double>::infinity();
        if (!(half_width > weak_from)) continue;
        WeakDirection direction{svd.matrixV().col(k), half_width, 0};
        Index largest = 0;
        direction.along.cwiseAbs().maxCoeff(&largest);
        if (direction.along[largest] < 0) direction.along = -direction.along;
        for (Index i = 0; i < fit.slopes.rows(); ++i) {
            double move = 0;
            for (Index j = 0; j < fit.slopes.cols(); ++j)
                move += fit.slopes(i, j) * direction.along[j];
            direction.moves = std::max(direction.moves, std::abs(move));
        }
        weak.push_back(std::move(direction));
    }
    return weak;
}

std::vector<Eigen::VectorXd> draws_of(const Fit& fit, const Noise& noise, std::size_t count) {
    constexpr int most_tries = 1000;
    const auto svd = decomposed(fit);
    RandomStream stream = RandomStreams(1).stream("draws");
    const auto draw = [&] {
        Eigen::VectorXd place = fit.at;
        for (Index k = 0; k < place.size(); ++k) {
            const double sigma = svd.singularValues()[k];
            const double width = sigma > noise.share ? noise.share / sigma : 1;
            const double along = width * draw_normal(stream);
            for (Index j = 0; j < place.size(); ++j) place[j] += along * svd.matrixV()(j, k);
        }
        return place;
    };
    const auto is_inside = [](const Eigen::VectorXd& place) {
        return place.minCoeff() >= 0 && place.maxCoeff() <= 1;
    };
    std::vector<Eigen::VectorXd> draws;
    while (draws.size() < count) {
        Eigen::VectorXd place = draw();
        for (int tries = 1; tries < most_tries && !is_inside(place); ++tries) place = draw();
        draws.emplace_back(place.cwiseMax(0).cwiseMin(1));
    }
    return draws;
}

std::vector<std::size_t> misfits(const Fit& fit, const Noise& noise) {
    const auto rows = static_cast<double>(fit.residuals.size());
    const double tail = misfit_chance / (2 * rows);
    const Eigen::VectorXd leverage = leverages(fit);
    std::vector<std::size_t> found;
    for (Index i = 0; i < fit.residuals.size(); ++i) {
        const double square = fit.residuals[i] * fit.residuals[i];
        const double free = 1 - leverage[i];
        if (!(free > 1e-6)) continue;  // the row alone decides something, and fits
        bool beyond = false;
        if (noise.is_default) {
            const double most =
                boost::math::quantile(complement(boost::math::normal(), tail)) * noise.share;
            beyond = square > most * most * free;
        } else if (noise.freedom >= 3) {
            const auto freedom = static_cast<double>(noise.freedom - 1);
            const double others = std::max(0.0, fit.sum - square / free) / freedom;
            const double most =
                boost::math::quantile(complement(boost::math::students_t(freedom), tail));
            beyond = square > most * most * others * free;
        }
        if (beyond) found.push_back(static_cast<std::size_t>(i));
    }
    return found;
}

}  // namespace paceline
