// CHOCO-SGD: decentralized SGD in which each worker sends the compressed difference between its
// model and the copy of it that its neighbors hold.
//
//   x_i      <-  x_i - gamma g_i + gamma_c sum over j of w_ij (xhat_j - xhat_i)
//   q_i      <-  C(x_i - xhat_i)
//   send q_i to the neighbors;   xhat_j  <-  xhat_j + q_j
//
//   symbol    here                     meaning
//   x_i       x                        model of worker i
//   g_i       g                        its stochastic gradient at x_i at the start of the step
//   xhat_i    hat                      the copy of x_i that its neighbors hold
//   w_ij                               mixing weights (topologies/mixing), rows sum to 1
//             around                   sum over j of w_ij xhat_j
//   gamma_c   options.consensus_step   in (0, 1]: how far a step moves towards the neighbors. The
//                                      coarser the compressor, the smaller it must be
//   C         codec.coder              of options.exchange
//
// A worker needs only the weighted sum of its neighbors' hats, so it keeps three vectors, whatever
// its degree. This requires a W that does not change. All workers start from the same model, so all
// hats start there too.
//
// The order is that of the released code: a step mixes the hats of the step before, and the message
// travels during the next gradient. A step takes the longer of gradient and exchange, then coding
// and update. The first step has no message. With a lossless compressor and gamma_c = 1 it is
// D-PSGD (dsgd_awc.hpp). With n = 1 the hats do nothing: x is that of SGD, but coding takes its
// time. Passes: the compressor's, two for difference and hat, and decoding the messages of d
// neighbors.
//
// In pieces (piece.hpp), C goes over one piece at a time, and each piece has a message of its own.
// After backward, all pieces are coded one after another, and their messages leave together when
// the next step begins. Beside backward, piece l of a step is formed, coded and sent as soon as
// backward has completed its gradient and its message of the step before has come. A message then
// travels for as long as a whole step before anything waits for it. In values, the two are the
// same.
//
// By machine, through leaders, machines take the place of workers: x is the model of a machine, g
// the mean gradient of its devices, and W a mixing of machines.
//
//   1. devices reduce x - gamma g_i to the first device over the bus, dense
//   2. the leader mixes the hats of the step before, and has the machine's x
//   3. the leader hands x to its devices, dense, and they go on
//   4. the leader encodes q, which travels to the leaders of neighboring machines during the next
//      gradient
//
// Only leaders have hats. Pieces go through steps 1 to 3 one at a time. With one device per machine
// it is the flat method.
//
// Sources: Koloskova, Stich, Jaggi, ICML 2019; Koloskova, Lin, Stich, Jaggi, ICLR 2020; order and
// default of gamma_c: released code (epfml/ChocoSGD). Starting the hats at the first model is this
// project's choice, and so are pieces beside backward and machines. No momentum.
#pragma once

#include <cstdint>

#include "algorithms/exchange/exchange_options.hpp"
#include "models/tensors/layout.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

class Worker;

struct ChocoSgdOptions {
    ExchangeOptions exchange{};   // its codec is a compressor, without error feedback
    double consensus_step = 0.9;  // gamma_c
};

/// Returns the time per step that a worker with this many neighbors spends on coding a vector.
Duration choco_coding_time(const ChocoSgdOptions& options, const Layout& layout,
                           std::int64_t neighbors);

/// Requires a job with a mixing that is the same in all steps: of workers, or by machine of
/// machines.
Task<> choco_sgd(Worker& self, ChocoSgdOptions options);

}  // namespace paceline
