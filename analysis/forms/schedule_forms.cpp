#include "analysis/forms/schedule_forms.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <utility>

namespace paceline {

namespace {

// What happens when, in order of (time, order of entry).
class Agenda {
  public:
    using Action = std::function<void()>;

    void add(Duration time, Action action) {
        actions_.emplace(std::pair{time, added_++}, std::move(action));
    }
    void run() {
        while (!actions_.empty()) {
            auto first = actions_.extract(actions_.begin());
            now_ = first.key().first;
            first.mapped()();
        }
    }
    [[nodiscard]] Duration now() const { return now_; }

  private:
    std::map<std::pair<Duration, std::int64_t>, Action> actions_;
    std::int64_t added_ = 0;
    Duration now_{};
};

class Schedule {
  public:
    Schedule(const StepTiming& timing, const ExchangeSchedule& schedule,
             const std::vector<ScheduledPiece>& pieces)
        : timing_(timing),
          pieces_(pieces),
          by_priority_(schedule.order == Order::priority),
          in_phases_(schedule.begin == Begin::in_phases),
          complete_(timing.buckets.size(), false) {
        if (schedule.begin == Begin::beside_backward)
            segment(0);
        else
            agenda_.add(timing.step, [this] {
                complete_.assign(complete_.size(), true);
                encode_next();
            });
        agenda_.run();
    }

    [[nodiscard]] Duration end() const { return end_; }

  private:
    using Action = Agenda::Action;

    void on_device(Duration time, Action done) {
        free_ = sum(std::max(free_, agenda_.now()), time);
        agenda_.add(free_, std::move(done));
    }
    void go(const std::vector<PieceStage>& stages, std::size_t from, Action done) {
        if (from == stages.size()) return done();
        const PieceStage& stage = stages[from];
        Action next = [this, &stages, from, done = std::move(done)] { go(stages, from + 1, done); };
        if (stage.on_device)
            on_device(stage.time, std::move(next));
        else
            agenda_.add(sum(agenda_.now(), stage.time), std::move(next));
    }

    void segment(std::size_t bucket) {
        if (bucket == timing_.buckets.size()) return;
        const Duration before = bucket == 0 ? Duration{} : timing_.buckets[bucket - 1].ready;
        on_device(timing_.buckets[bucket].ready - before, [this, bucket] {
            complete_[bucket] = true;
            end_ = std::max(end_, agenda_.now());
            if (!encoding_) encode_next();
            segment(bucket + 1);
        });
    }
    void encode_next() {
        while (encoded_ < pieces_.size() && complete_[pieces_[encoded_].bucket]) {
            const std::size_t piece = encoded_++;
            if (pieces_[piece].form.encode.empty()) {
                put(piece);
                continue;
            }
            encoding_ = true;
            go(pieces_[piece].form.encode, 0, [this, piece] {
                encoding_ = false;
                put(piece);
                encode_next();
            });
            return;
        }
    }
    // An idle stream looks when all pieces of this instant are there.
    void put(std::size_t piece) {
        waiting_.push_back(piece);
        if (travelling_ || (in_phases_ && waiting_.size() < pieces_.size())) return;
        travelling_ = true;
        agenda_.add(agenda_.now(), [this] { travel_next(); });
    }
    void travel_next() {
        travelling_ = !waiting_.empty();
        if (!travelling_) return;
        const auto next = by_priority_ ? std::ranges::max_element(waiting_) : waiting_.begin();
        const std::size_t piece = *next;
        waiting_.erase(next);
        go(pieces_[piece].form.travel, 0, [this, piece] {
            arrived_.push_back(piece);
            if (!in_phases_ || arrived_.size() == pieces_.size()) decode_arrived();
            travel_next();
        });
    }
    void decode_arrived() {
        for (const std::size_t piece : std::exchange(arrived_, {}))
            go(pieces_[piece].form.decode, 0, [this] { end_ = std::max(end_, agenda_.now()); });
    }

    const StepTiming& timing_;
    const std::vector<ScheduledPiece>& pieces_;
    bool by_priority_;
    bool in_phases_;
    Agenda agenda_;
    Duration free_{};  // when the device is
    Duration end_{};
    std::vector<bool> complete_;       // by bucket
    std::size_t encoded_ = 0;          // pieces, or being encoded
    bool encoding_ = false;            // the device has been asked to
    std::deque<std::size_t> waiting_;  // for the stream
    std::vector<std::size_t> arrived_{};
    bool travelling_ = false;
};

}  // namespace

Duration end_of_pieces(const StepTiming& timing, const ExchangeSchedule& schedule,
                       const std::vector<ScheduledPiece>& pieces) {
    return Schedule(timing, schedule, pieces).end();
}

}  // namespace paceline
