// The letters of one worker or server, for methods without rounds: `self.mail()` (letter.hpp).
//
// Those of an island (runtime/island.hpp) go to and from its first device.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/mail/letter.hpp"
#include "sim/engine/task.hpp"
#include "sim/engine/units.hpp"

namespace paceline {

class Lives;
class Mail;

/// Whose letters a device has, if not its own: those of an island, or of a server of islands.
struct IslandAddress {
    const std::vector<std::vector<int>>* islands;  // their devices
    int number;                                    // of this one, or behind the last
    int devices;                                   // of the job, behind which servers are
    int* news;  // the most vectors of a letter that was taken out since this was last set to 0
};

class WorkerMail {
  public:
    /// `rank` is that of the device; `island` is null for its own letters. Requires that all
    /// outlive this object.
    WorkerMail(Mail& mail, const Lives& lives, int rank,
               std::unique_ptr<const IslandAddress> island)
        : mail_(mail), lives_(lives), rank_(rank), island_(std::move(island)) {}
    WorkerMail(const WorkerMail&) = delete;
    WorkerMail& operator=(const WorkerMail&) = delete;

    /// Sends a letter to a box of another worker or server, eagerly: the task is done when the
    /// letter has drained.
    Task<> post(int to, int box, Letter letter, Bytes weight);
    /// Takes back the letters to an earlier life of a worker: those that do not flow yet never do.
    /// Requires that nobody waits for them to drain, and that none was posted to its present life.
    void take_back_letters(int to, int box) const;
    /// Waits for the next letter in a box and takes it out.
    Task<Letter> next_letter(int box);
    /// The same for a letter that is expected from a node. Returns nullopt once that node is known
    /// to have died.
    Task<std::optional<Letter>> next_letter_from(int node, int box);
    /// The same for any letter. Returns nullopt if a worker dies or joins first.
    Task<std::optional<Letter>> next_letter_or_change(int box);

  private:
    [[nodiscard]] int device_of(int rank) const;

    Mail& mail_;
    const Lives& lives_;
    int rank_;
    std::unique_ptr<const IslandAddress> island_;
};

}  // namespace paceline
