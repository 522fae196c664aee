#include "app/study/ranks/follower.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "app/study/point_file.hpp"
#include "app/study/ranks/greeting.hpp"

namespace paceline {

namespace {

// Passes messages between the loops, which have their own threads, and the thread of the post.
class Desk {
  public:
    struct Outgoing {
        Word word;
        std::uint64_t number = 0;
        std::string text{};
    };

    // --- for the loops ---

    // Returns the next run; nothing if there are no more for now.
    std::optional<std::size_t> next_run() {
        std::unique_lock lock(mutex_);
        put_out_locked({Word::ask});
        came_.wait(lock, [this] { return over_ || !answers_.empty(); });
        if (over_) return std::nullopt;
        const auto answer = answers_.front();
        answers_.pop_front();
        return answer;
    }
    void put_out(Outgoing letter) {
        const std::scoped_lock lock(mutex_);
        put_out_locked(std::move(letter));
    }
    // Waits until rank 0 begins. Returns false if rank 0 ends the job instead.
    bool begins() {
        std::unique_lock lock(mutex_);
        came_.wait(lock, [this] { return over_ || begun_ > 0; });
        if (over_) return false;
        --begun_;
        return true;
    }

    // --- for the post ---

    void begin() {
        const std::scoped_lock lock(mutex_);
        ++begun_;
        came_.notify_all();
    }
    void answer(std::optional<std::size_t> run) {
        const std::scoped_lock lock(mutex_);
        answers_.push_back(run);
        came_.notify_all();
    }
    // After this, nothing more is requested or begun.
    void close() {
        const std::scoped_lock lock(mutex_);
        over_ = true;
        came_.notify_all();
    }
    // Waits up to `a_while` for letters to send.
    std::deque<Outgoing> outgoing(std::chrono::microseconds a_while) {
        std::unique_lock lock(mutex_);
        put_.wait_for(lock, a_while, [this] { return !out_.empty(); });
        return std::exchange(out_, {});
    }

  private:
    void put_out_locked(Outgoing letter) {
        out_.push_back(std::move(letter));
        put_.notify_one();
    }

    std::mutex mutex_;
    std::condition_variable came_;
    std::condition_variable put_;
    std::deque<Outgoing> out_;
    std::deque<std::optional<std::size_t>> answers_;
    int begun_ = 0;
    bool over_ = false;
};

// Runs the loops until the desk closes.
void run_loops(Desk& desk, const StudyRuns& runs, const PoolSize& size,
               const std::stop_token& stop) {
    try {
        StudyProgress progress(runs, size.loops, Telling::nothing);
        const RunExchange exchange{
            [&desk] { return desk.next_run(); },
            [&](std::size_t run, const PointResult& result) {
                desk.put_out({Word::result, run, point_text(runs.key(run), result)});
            }};
        while (desk.begins()) run_side_by_side(runs, size, exchange, progress, stop);
    } catch (const std::exception& error) {
        desk.put_out({Word::fault, 0, error.what()});
    }
}

// Acts on a letter. Returns the exit code once rank 0 has sent it.
std::optional<int> obey(const RankLetter& letter, Desk& desk, std::stop_source& runs_stop) {
    switch (letter.word) {
        case Word::begin:
            desk.begin();
            break;
        case Word::run:
            desk.answer(letter.number);
            break;
        case Word::none:
            desk.answer(std::nullopt);
            break;
        case Word::stop:
            runs_stop.request_stop();
            break;
        case Word::end:
            return static_cast<int>(letter.number);
        default:
            break;
    }
    return std::nullopt;
}

int serve(Post& post, Desk& desk, std::stop_source& runs_stop, const std::stop_token& stop) {
    Patience patience;
    bool told = false;
    while (true) {
        for (Desk::Outgoing& letter : desk.outgoing(patience.pause())) {
            post.send(0, letter.word, letter.number, std::move(letter.text));
            patience.letter_came();
        }
        if (stop.stop_requested() && !std::exchange(told, true)) {
            post.send(0, Word::interrupted);
            runs_stop.request_stop();
        }
        while (const auto letter = post.receive()) {
            patience.letter_came();
            if (const auto exit_code = obey(*letter, desk, runs_stop)) return *exit_code;
        }
    }
}

}  // namespace

int follow(Post& post, const Study& study, const PoolSize& size, const std::stop_token& stop) {
    const StudyRuns runs(study);
    Greeting greeting{post.seat().host, size.loops, {}, {}, {}};
    sign(greeting, runs);
    post.send(0, Word::greeting, 0, greeting_text(greeting));

    Desk desk;
    std::stop_source runs_stop;
    std::jthread loops([&] { run_loops(desk, runs, size, runs_stop.get_token()); });
    const int exit_code = serve(post, desk, runs_stop, stop);
    runs_stop.request_stop();
    desk.close();
    loops.join();
    post.send(0, Word::bye);
    return exit_code;
}

int decline(Post& post, const std::string& error) {
    const Greeting greeting{post.seat().host, 1, error, {}, {}};
    post.send(0, Word::greeting, 0, greeting_text(greeting));
    Patience patience;
    while (true) {
        const auto letter = post.receive();
        if (!letter) {
            std::this_thread::sleep_for(patience.pause());
        } else if (letter->word == Word::end) {
            post.send(0, Word::bye);
            return static_cast<int>(letter->number);
        }
    }
}

}  // namespace paceline
