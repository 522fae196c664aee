// Streaming DiLoCo: DiLoCo whose model travels in fragments, one after the other, beside the steps
// that follow.
//
// The model is cut into P fragments, runs of its tensors (models/tensors/fragments.hpp). Every
// worker takes steps of AdamW all the time; t = 1, 2, ... counts them. Fragment p = 0, ..., P-1 is
// due after each step t with
//
//   (t - floor(H (p+1) / P)) mod H = 0                       so every H steps, spread over them
//
// or, where that is when it is taken in (`due` = taken_in), (t + tau - floor(H (p+1) / P)) mod H =
// 0.
//
//   after step t         D     <-  (1/n) sum over j of (y_p - x_p,j)    begins; x_p,j as it is then
//   after step t + tau   u_p   <-  mu u_p + D                           once D has arrived
//                        y_p   <-  y_p - eta (D + mu u_p)
//                        x_p,i <-  alpha x_p,i + (1 - alpha) y_p        x_p,i with the tau steps
//                                  since
//
//   symbol      here                          meaning
//   x_i         self.model()                  model of worker i
//   y           outer.y                       the outer model: x(0) at first
//   u           outer.m                       outer momentum, 0 at first
//   m_i, v_i    m, v                          of Adam, 0 at first; they stay local
//   H           period                        steps between two exchanges of a fragment
//   P, tau      fragments, delay              0 <= tau < floor(H / P), so one fragment travels at a
//                                             time
//   alpha       alpha                         share of the worker's own model that stays
//   eta, mu     diloco.outer                  constant; the job's learning rate is that of the
//                                             inner steps
//
// y and u are equal on all workers and exist once. With tau = 0 the exchange blocks; otherwise it
// runs beside tau steps, and only what it takes longer than those is waited for. Encoding precedes
// the next step on the device, and decoding follows the step in which the messages have arrived.
// Bytes per step: those of an exchange of the model, divided by H; of one exchange, about a P-th of
// the model. Fragments without tensors are not exchanged. An exchange that is under way when a run
// ends has no effect. A worker that dies during it counts in D; one that returns during it does not
// mix in y_p.
//
// Reductions: P = 1, tau = 0 and alpha = 0 is DiLoCo. With alpha = 1 workers never learn of each
// other.
//
// Source: Douillard et al., "Streaming DiLoCo with overlapping communication", 2025 (arXiv
// 2501.18512), whose text was not available. The order of fragments, the offsets and outer
// gradients that start from the outer model are those of released code of another group
// (meta-pytorch/torchft, torchft/local_sgd.py): with `due` = taken_in, the models are those of its
// regression fixtures (commit 7eb7087, test_fixtures/*diloco*.json) after every step. With `due` =
// sent, the default, each exchange is tau steps later. H 100 and fragments of 3 layers are those of
// the paper's table 4, read in a copy; the values tau 1 and alpha 0.5 are from memory, unverified.
// The paper's fragments are whole layers, in sequence or strided; here they are runs of tensors in
// sequence. Its 4-bit numbers are a matter of the codec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "algorithms/exchange/exchange_options.hpp"
#include "algorithms/local/diloco.hpp"
#include "sim/engine/task.hpp"

namespace paceline {

class Worker;

/// What happens to fragment p after floor(H (p+1) / P) steps of a block.
enum class FragmentDue : std::uint8_t { sent, taken_in };

struct StreamingDilocoOptions {
    DilocoOptions diloco{.period =
                             100};  // H, eta, mu, the inner rule and the exchange of a fragment
    std::int64_t fragments = 4;     // P, 1 <= P <= H
    std::int64_t delay = 1;         // tau
    double alpha = 0.5;             // in [0, 1]
    FragmentDue due = FragmentDue::sent;
};

/// An exchange of a fragment, by the order in which they begin.
struct FragmentTurn {
    std::size_t fragment;
    std::int64_t number;  // 0, 1, ... over all fragments
};

/// Returns the fragment that is sent after step k = 0, 1, ..., if there is one.
std::optional<FragmentTurn> turn_after(const StreamingDilocoOptions& options, std::int64_t k);

Task<> streaming_diloco(Worker& self, StreamingDilocoOptions options);

}  // namespace paceline
