// EF-signSGD: workers send the scaled signs of their steps, with error feedback.
//
//   p_i  <-  gamma g_i + e_i
//   c_i  <-  (|p_i|_1 / d) sign(p_i)         for each tensor, d its number of entries
//   e_i  <-  p_i - c_i
//   x    <-  x - (1/n) sum over i of c_i
//
//   symbol   here    meaning
//   g_i      g       stochastic gradient of worker i at x
//   e_i      e       what worker i has not sent yet, 0 at first. It is in units of steps, not
//                    gradients, so a drop of gamma does not shrink the unsent part
//   gamma            learning rate of the step
//
// No momentum. Sends one bit per entry and 32 bits per tensor. Messages are gathered, and each
// worker decodes n of them. It blocks as compressed SGD does; nothing overlaps. x is stored once, e
// once per worker. With n = 1 it is EF-signSGD of one worker, not SGD.
//
// Source: Karimireddy, Rebjock, Stich, Jaggi, "Error Feedback Fixes SignSGD and other Gradient
// Compression Schemes", ICML 2019; form: released code (epfml/error-feedback-SGD).
#pragma once

#include "algorithms/exchange/exchange_presets.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

struct EfSignSgdOptions {
    ExchangeOptions exchange = scaled_sign_exchange();
};

Task<> ef_sign_sgd(Worker& self, EfSignSgdOptions options);

}  // namespace paceline
