// CHOCO-SGD: decentralized SGD whose workers send compressed differences to what all know of them.
//
//   x_i      <-  x_i - gamma g_i + gamma_c sum over j of w_ij (xhat_j - xhat_i)
//   q_i      <-  C(x_i - xhat_i)
//   send q_i to the neighbors;   xhat_j  <-  xhat_j + q_j
//
//   symbol    here                     meaning
//   x_i       x                        model of worker i
//   g_i       g                        its stochastic gradient at x_i as the step begins
//   xhat_i    hat                      what its neighbors know of x_i
//   w_ij                               mixing weights (topologies/mixing), rows sum to 1
//             around                   sum over j of w_ij xhat_j
//   gamma_c   options.consensus_step   in (0, 1]: how far a step moves towards the neighbors. The
//                                      coarser the compressor, the smaller it must be
//   C         options.compressor
//
// Of the hats of the neighbors a worker needs the weighted sum alone, so it keeps three vectors,
// whatever its degree. That takes a W that does not change. The first model is the same everywhere,
// so all hats begin there.
//
// The order is that of released code: the hats of the step before are mixed, and the message travels
// beside the next gradient. A step takes the longer of gradient and exchange, then coding and
// update; the first step has no message. Without loss and with gamma_c = 1 it is D-PSGD
// (dsgd_awc.hpp). Alone (n = 1) the hats do nothing: x is that of SGD, coding takes its time.
// Passes: the compressor's, two for difference and hat, and the decoding of d neighbors' messages.
//
// Sources: Koloskova, Stich, Jaggi, ICML 2019; Koloskova, Lin, Stich, Jaggi, ICLR 2020; order and
// default of gamma_c: released code (epfml/ChocoSGD). Hats that begin at the first model are this
// project's. No momentum.
#pragma once

#include "algorithms/compression/compressor.hpp"
#include "algorithms/worker.hpp"

namespace paceline {

struct ChocoSgdOptions {
    Compressor compressor;
    double consensus_step = 0.9;  // gamma_c
    CodingCost coding{};
};

/// What coding takes a worker with this many neighbors in each step.
Duration choco_coding_time(const ChocoSgdOptions& options, const Layout& layout,
                           std::int64_t neighbors);

/// Requires a job with a mixing that is the same in all steps.
Task<> choco_sgd(Worker& self, ChocoSgdOptions options);

}  // namespace paceline
