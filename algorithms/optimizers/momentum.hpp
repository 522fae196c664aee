// The step of synchronous methods: what is done with the mean gradient of all workers.
//
//   g  <-  g min(1, clip / |g|)          if clip > 0 (Pascanu et al., ICML 2013)
//   g  <-  g + decay x                   (decay / 2) |x|^2, never clipped
//   m  <-  beta m + g                    heavy ball (Polyak, 1964); beta = 0: plain SGD
//   x  <-  x - gamma m                   or, Nesterov's:  x  <-  x - gamma (g + beta m)
//
// |g| is the norm over all tensors. Does nothing to vectors without values.
#pragma once

#include "models/vector.hpp"

namespace paceline {

struct MomentumRule {
    double momentum = 0;  // beta, in [0, 1)
    bool nesterov = false;
    double weight_decay = 0;
    double clip = 0;  // 0: never
};

/// Scales g down to a norm of at most `clip`; 0: never.
void clip_norm(Vector& g, double clip);

void momentum_step(const MomentumRule& rule, double gamma, Vector g, Vector& m, Vector& x);

}  // namespace paceline
