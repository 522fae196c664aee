#include "models/data/digits.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <numbers>
#include <vector>

#include <boost/random/uniform_int_distribution.hpp>
#include <boost/random/uniform_real_distribution.hpp>

#include "sim/engine/check.hpp"
#include "sim/numeric/draws.hpp"
#include "sim/numeric/elementary.hpp"

namespace paceline {

namespace {

struct Point {
    double x;  // to the right
    double y;  // down

    friend Point operator-(const Point& a, const Point& b) { return {a.x - b.x, a.y - b.y}; }
};
using Stroke = std::vector<Point>;
using Glyph = std::vector<Stroke>;

constexpr double glyph_height = 0.72;
constexpr double glyph_width = 0.5;

/// Returns an arc of an ellipse from one angle to another, in degrees: 0 is right, 90 is down.
Stroke arc(Point center, Point radii, double from, double to) {
    constexpr int pieces = 12;
    Stroke stroke;
    for (int i = 0; i <= pieces; ++i) {
        const double angle = (from + (to - from) * i / pieces) * std::numbers::pi / 180;
        stroke.push_back({center.x + radii.x * elementary::cos(angle),
                          center.y + radii.y * elementary::sin(angle)});
    }
    return stroke;
}

Stroke line(std::initializer_list<std::array<double, 2>> points) {
    Stroke stroke;
    for (const auto& [x, y] : points) stroke.push_back({x, y});
    return stroke;
}

Stroke joined(Stroke first, const Stroke& then) {
    first.insert(first.end(), then.begin(), then.end());
    return first;
}

std::array<Glyph, 10> make_glyphs() {
    return {
        Glyph{arc({.5, .5}, {.36, .48}, 0, 360)},
        Glyph{line({{.28, .2}, {.55, .02}, {.55, .98}})},
        Glyph{joined(arc({.5, .3}, {.36, .28}, 180, 395), line({{.12, .97}, {.9, .97}}))},
        Glyph{arc({.45, .26}, {.34, .24}, -150, 90), arc({.45, .73}, {.38, .24}, -90, 150)},
        Glyph{line({{.66, .98}, {.66, .02}, {.1, .68}, {.92, .68}})},
        Glyph{joined(line({{.84, .03}, {.25, .03}, {.2, .46}}),
                     arc({.47, .67}, {.38, .3}, -135, 145))},
        Glyph{line({{.74, .02}, {.45, .22}, {.24, .48}, {.17, .72}}),
              arc({.5, .71}, {.34, .26}, 0, 360)},
        Glyph{line({{.12, .03}, {.88, .03}, {.38, .98}})},
        Glyph{arc({.5, .25}, {.29, .23}, 0, 360), arc({.5, .73}, {.36, .25}, 0, 360)},
        Glyph{arc({.5, .29}, {.34, .26}, 0, 360), line({{.84, .29}, {.76, .62}, {.48, .98}})},
    };
}

double within(double least, double most, RandomStream& stream) {
    return least < most ? boost::random::uniform_real_distribution<double>(least, most)(stream)
                        : least;
}

/// The distortion that an image applies to the points of its glyph. The results are in pixels.
struct Distortion {
    // Coefficients of x and y, and of x^2, xy and y^2, in each of the two results.
    std::array<std::array<double, 2>, 2> linear;
    std::array<std::array<double, 3>, 2> quadratic;
    Point shift;

    Distortion(const DigitsOptions& options, RandomStream& stream) {
        const auto around_0 = [&](double most) { return within(-most, most, stream); };
        const double angle = around_0(options.rotation);
        const double shear = around_0(options.shear);
        const double wider = 1 + around_0(options.scale);
        const double higher = 1 + around_0(options.scale);
        for (std::size_t k = 0; k < 3; ++k)
            for (auto& row : quadratic) row[k] = around_0(options.warp);
        shift.x = options.size * (.5 + around_0(options.shift));
        shift.y = options.size * (.5 + around_0(options.shift));
        // size * rotation * shear * widths
        const double cosine = options.size * elementary::cos(angle);
        const double sine = options.size * elementary::sin(angle);
        const double width = glyph_width * wider;
        const double height = glyph_height * higher;
        linear = {{{cosine * width, (cosine * shear - sine) * height},
                   {sine * width, (sine * shear + cosine) * height}}};
    }

    Point operator()(const Point& of_glyph) const {
        const Point p = of_glyph - Point{0.5, 0.5};
        const auto bent = [&](double along, const std::array<double, 3>& k) {
            return along + (k[0] * (p.x * p.x) + k[1] * (p.x * p.y) + k[2] * (p.y * p.y));
        };
        const Point b{bent(p.x, quadratic[0]), bent(p.y, quadratic[1])};
        return {linear[0][0] * b.x + linear[0][1] * b.y + shift.x,
                linear[1][0] * b.x + linear[1][1] * b.y + shift.y};
    }
};

struct Pen {
    double radius;  // where the ink is at half strength
    double edge;    // from full ink to none

    [[nodiscard]] double reach() const { return radius + edge / 2; }
    [[nodiscard]] double ink(double distance) const {
        return std::clamp(0.5 + (radius - distance) / edge, 0.0, 1.0);
    }
};

double distance_to_segment(const Point& p, const Point& a, const Point& b) {
    const Point along = b - a;
    const Point from_a = p - a;
    const double squared = along.x * along.x + along.y * along.y;
    const double projected = from_a.x * along.x + from_a.y * along.y;
    const double t = squared > 0 ? std::clamp(projected / squared, 0.0, 1.0) : 0.0;
    const Point off = from_a - Point{t * along.x, t * along.y};
    return std::sqrt(off.x * off.x + off.y * off.y);
}

/// Draws a segment. A pixel takes the most ink of all segments. Only pixels within reach of the pen
/// are visited.
void draw_segment(const Point& a, const Point& b, const Pen& pen, Eigen::MatrixXf& ink) {
    const auto pixel = [&](double position) {
        const auto last = static_cast<double>(ink.rows() - 1);
        return static_cast<Eigen::Index>(std::clamp(std::floor(position), 0.0, last));
    };
    const Point low{std::min(a.x, b.x) - pen.reach(), std::min(a.y, b.y) - pen.reach()};
    const Point high{std::max(a.x, b.x) + pen.reach(), std::max(a.y, b.y) + pen.reach()};
    for (Eigen::Index y = pixel(low.y); y <= pixel(high.y); ++y)
        for (Eigen::Index x = pixel(low.x); x <= pixel(high.x); ++x) {
            const Point center{static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5};
            const auto here = static_cast<float>(pen.ink(distance_to_segment(center, a, b)));
            ink(x, y) = std::max(ink(x, y), here);
        }
}

/// Draws the ink of each pixel: column y holds row y of the image.
void draw_glyph(const Glyph& glyph, const DigitsOptions& options, RandomStream& stream,
                Eigen::MatrixXf& ink) {
    const Distortion distort(options, stream);
    const double size = options.size;
    const Pen pen{.radius = size * within(options.thinnest, options.thickest, stream) / 2,
                  .edge = within(1, std::max(1.0, size * options.softest), stream)};
    ink.setZero();
    for (const Stroke& stroke : glyph) {
        Point last = distort(stroke.front());
        for (const Point& point : stroke) {
            const Point next = distort(point);
            draw_segment(last, next, pen, ink);
            last = next;
        }
    }
}

struct Colors {
    std::array<double, 3> background{};
    std::array<double, 3> ink{};

    [[nodiscard]] double contrast() const {
        double squares = 0;
        for (std::size_t c = 0; c < ink.size(); ++c)
            squares += (ink[c] - background[c]) * (ink[c] - background[c]);
        return std::sqrt(squares);
    }
};

Colors draw_colors(const DigitsOptions& options, RandomStream& stream) {
    Colors colors;
    if (options.channels == 1) {
        colors.ink[0] = within(options.faintest, 1, stream);
        return colors;
    }
    while (colors.contrast() < options.faintest) {
        for (double& value : colors.background) value = within(0, 1, stream);
        for (double& value : colors.ink) value = within(0, 1, stream);
    }
    return colors;
}

Samples draw(int count, const DigitsOptions& options, RandomStream stream) {
    boost::random::uniform_int_distribution<int> digit(0, 9);
    const std::array<Glyph, 10> glyphs = make_glyphs();
    const Eigen::Index pixels = Eigen::Index{options.size} * options.size;
    Eigen::MatrixXf ink(options.size, options.size);
    Samples samples;
    samples.inputs.resize(pixels * options.channels, count);
    samples.labels.resize(count);
    for (int j = 0; j < count; ++j) {
        const int label = digit(stream);
        samples.labels[j] = label;
        draw_glyph(glyphs[static_cast<std::size_t>(label)], options, stream, ink);
        const Colors colors = draw_colors(options, stream);
        for (int channel = 0; channel < options.channels; ++channel) {
            const double background = colors.background[static_cast<std::size_t>(channel)];
            const double contrast = colors.ink[static_cast<std::size_t>(channel)] - background;
            for (Eigen::Index i = 0; i < pixels; ++i) {
                const double clean = background + contrast * static_cast<double>(ink(i));
                const double noisy = clean + options.noise * draw_normal(stream);
                samples.inputs(channel * pixels + i, j) =
                    static_cast<float>(std::clamp(noisy, 0.0, 1.0));
            }
        }
    }
    return samples;
}

void check(const DigitsOptions& options) {
    PACELINE_CHECK(options.channels == 1 || options.channels == 3, "images are gray or in color");
    PACELINE_CHECK(options.size >= 8, "a digit needs 8 pixels by 8");
    for (const double distortion : {options.shift, options.rotation, options.scale, options.shear,
                                    options.warp, options.thinnest, options.softest, options.noise})
        PACELINE_CHECK(distortion >= 0, "a distortion is a range around 0");
    PACELINE_CHECK(options.scale < 1, "a digit does not shrink to nothing");
    PACELINE_CHECK(options.thinnest <= options.thickest, "a pen's widths are a range");
    PACELINE_CHECK(options.faintest > 0 && options.faintest <= 1, "contrast is in (0, 1]");
    PACELINE_CHECK(options.train >= 1 && options.test >= 0, "there is a training sample or more");
}

}  // namespace

Dataset digits(const DigitsOptions& options, const RandomStreams& streams) {
    check(options);
    return {.train = draw(options.train, options, streams.stream("digits.train")),
            .test = draw(options.test, options, streams.stream("digits.test")),
            .predicts = Prediction::label,
            .classes = 10,
            .image = {options.channels, options.size, options.size}};
}

}  // namespace paceline
