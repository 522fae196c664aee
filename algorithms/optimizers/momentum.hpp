// The step of synchronous methods: applies the mean gradient of all workers to the model.
//
//   g  <-  g min(1, clip / |g|)          if clip > 0 (Pascanu et al., ICML 2013)
//   g  <-  g + decay x                   (decay / 2) |x|^2, never clipped
//   m  <-  beta m + g                    heavy ball (Polyak, 1964); beta = 0: plain SGD
//   x  <-  x - gamma m                   or, Nesterov's:  x  <-  x - gamma (g + beta m)
//
// |g| is the norm over all tensors. Vectors without values are left unchanged.
#pragma once

#include "models/tensors/vector.hpp"

namespace paceline {

struct MomentumRule {
    double momentum = 0;  // beta, in [0, 1)
    bool nesterov = false;
    double weight_decay = 0;
    double clip = 0;  // 0: never
};

/// Scales g down to a norm of at most `clip`; 0 disables clipping.
void clip_norm(Vector& g, double clip);

void momentum_step(const MomentumRule& rule, double gamma, Vector g, Vector& m, Vector& x);

}  // namespace paceline
