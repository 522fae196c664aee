// The letters of a job (letter.hpp): those under way, and the boxes that they are delivered to.
//
// The letters from one node to a box of another travel on a lane of their own, and arrive in the
// order of posting. A letter under way belongs to no worker's process, because it outlives it.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <optional>
#include <vector>

#include "algorithms/mail/letter.hpp"
#include "sim/engine/channel.hpp"
#include "sim/engine/processes.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"
#include "sim/messages/transfer.hpp"
#include "sim/network/network_part.hpp"
#include "sim/network/stream.hpp"

namespace paceline {

class Mail {
  public:
    /// `ranks` is the number of workers and servers.
    Mail(NetworkPart network, int ranks)
        : network_(network), ranks_(static_cast<std::size_t>(ranks)) {}
    Mail(const Mail&) = delete;
    Mail& operator=(const Mail&) = delete;

    /// Begins to wait for the message of a letter, which it then puts into a box of `to`.
    void expect(int from, int to, int box, Letter letter);
    /// co_await mail.send(...) sends the message of a letter, eagerly, until it has drained.
    [[nodiscard]] Send send(int from, int to, int box, Bytes weight) const {
        return {network_, from, to, lane_of(box), weight, Protocol::eager};
    }
    /// Takes back the messages to a box that do not flow yet.
    void take_back(int from, int to, int box) const { network_.close_lane(to, from, lane_of(box)); }
    /// Returns a box of a worker or server.
    [[nodiscard]] Channel<Letter>& box(int rank, int number) {
        if (boxes_.empty()) boxes_.resize(ranks_);
        return boxes_[static_cast<std::size_t>(rank)][number];
    }
    /// Forgets the letters that a worker has, and those from it and to it that are under way.
    void forget(int rank);
    void clear();
    /// Returns the number of letters under way and in boxes.
    [[nodiscard]] std::size_t size() const;

  private:
    struct UnderWay {
        int from;
        int to;
        std::optional<Pending<>> delivery{};
    };
    using Letters = std::list<UnderWay>;

    // The lane of letters to a box. Rounds have streams above those of all boxes
    // (worker_state.hpp).
    [[nodiscard]] static constexpr Stream lane_of(int box) { return 1 + static_cast<Stream>(box); }
    Task<> deliver(Letters::iterator place, int box, Letter letter);

    NetworkPart network_;
    std::size_t ranks_;
    std::vector<std::map<int, Channel<Letter>>> boxes_{};  // by rank and number, once one is used
    ProcessPtr process_ = make_process("letters", EventKind::daemon);
    // Coroutine frames that refer to the members above, so they are destroyed first.
    Letters under_way_{};
    Letters delivered_{};  // their coroutines have ended; erased when the next letter is posted
};

}  // namespace paceline
