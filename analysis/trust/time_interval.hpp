// How far a real step may be from the predicted one: an interval that holds with 90 %.
//
// The error of a prediction is x = ln(measured step time / predicted one). What a model of the
// network misses grows with how much of the step the network decides, so the scales of the errors
// are linear in four shares of the predicted step T:
//
//   exposed    e = time spent waiting / T
//   hidden     h = (time spent computing + C - T) / T, at least 0, with C the step when computing
//              takes no time: communication that ends behind computing, if overlap is as modelled
//   unstated   u = ln(T_m / T) + ln(T_r / T), at most 0.5: what a message that costs its sender
//              250 us, and a connection that carries 5 Gbps at most, would do; 0 where the
//              scenario states such costs, and off TCP
//
//   rise  = a_0 + a_1 e [a collective alone] + a_2 e [else] + a_3 h + a_4 u       x > 0: too fast
//   fall  = b_0 + b_1 e [a collective alone] + b_2 e [else] + b_3 h + b_4 u       x < 0: too slow
//
//   low, high  =  exp(-sqrt((q_f fall)^2 + (z s)^2)),  exp(sqrt((q_r rise)^2 + (z s)^2))
//
// a and b are fitted to the errors on validated testbeds, and q_r and q_f are the quantiles of the
// errors over these scales, each testbed taken with a and b of the others: split conformal
// prediction by testbeds (Lei et al., JASA 113, 2018, with the scale as their locally weighted
// residual). misses.hpp has the numbers; tools/trust.py makes them, and docs/trust.md says how well
// they hold. s is the standard deviation of ln T over other constants that measurements allow, and
// z = 1.645 that of 90 % of a normal distribution.
//
// Constants are known in one of two ways. `stated`: the errors are those of testbeds whose own rows
// informed no constant of network or library. `fitted`: a calibration on the machine itself has
// found them, so the errors are those with such constants, and u is 0.
//
// Of a ratio of two times on the same machines, what the models miss is m times what independent
// errors at the ends of the two intervals would be, with m from validated pairs of methods
// (`missed_of_ratio`). Constants are common: s is then the deviation of the difference of the two
// ln T, draw by draw.
//
// Limits: errors are those of stars of machines, and of synchronous methods. All else, such as
// oversubscribed fabrics and nodes that fail, was never measured, and gets the widest interval.
#pragma once

#include <vector>

namespace paceline {

inline constexpr double most_unstated = 0.5;

enum class Constants : unsigned char { stated, fitted };

/// What of a step a model can be wrong about.
struct Circumstances {
    double exposed = 0;
    double hidden = 0;
    double unstated = 0;
    bool collective_alone = false;
};

/// What nothing validated is like.
inline constexpr Circumstances unlike_all{1, 1, most_unstated, false};

struct TimeInterval {
    double hidden = 0;  // the shares above
    double unstated = 0;
    double constants = 0;         // s
    double low = 1;               // real over predicted time, at least
    double high = 1;              // and at most
    std::vector<double> drawn{};  // ln(time with other constants / predicted time), of each draw
};

/// Requires shares that are at least 0.
TimeInterval interval_of(const Circumstances& circumstances, Constants constants,
                         std::vector<double> drawn = {});

/// Of a ratio of times of two runs on the same machines: real over predicted, at least and at most.
struct RatioInterval {
    double low = 1;
    double high = 1;
};

/// Returns the interval of the time of `one` over that of `other`. Without as many draws of both,
/// what constants leave open counts as independent.
RatioInterval interval_of_ratio(const TimeInterval& one, const TimeInterval& other);

}  // namespace paceline
