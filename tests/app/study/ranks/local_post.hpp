// The ranks of a job as threads of a test, with an in-memory post.
#pragma once

#include <deque>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/study/ranks/post.hpp"

namespace paceline {

class PostOffice {
  public:
    explicit PostOffice(int ranks) : boxes_(static_cast<std::size_t>(ranks)) {}

    [[nodiscard]] int ranks() const { return static_cast<int>(boxes_.size()); }
    void deliver(int to, RankLetter letter) {
        const std::scoped_lock lock(mutex_);
        boxes_[static_cast<std::size_t>(to)].push_back(std::move(letter));
    }
    std::optional<RankLetter> fetch(int rank) {
        const std::scoped_lock lock(mutex_);
        auto& box = boxes_[static_cast<std::size_t>(rank)];
        if (box.empty()) return std::nullopt;
        RankLetter letter = std::move(box.front());
        box.pop_front();
        return letter;
    }

  private:
    std::mutex mutex_;
    std::vector<std::deque<RankLetter>> boxes_;
};

class LocalPost : public Post {
  public:
    using Post::send;

    LocalPost(PostOffice& office, int rank) : office_(office) {
        seat_.rank = rank;
        seat_.ranks = office.ranks();
        seat_.host = fmt::format("host{}", rank);
    }

    [[nodiscard]] const Seat& seat() const override { return seat_; }
    void send(int rank, Word word, std::uint64_t number, std::string text) override {
        office_.deliver(rank, {seat_.rank, word, number, std::move(text)});
    }
    std::optional<RankLetter> receive() override { return office_.fetch(seat_.rank); }
    [[noreturn]] void abort(int exit_code) override {
        throw std::runtime_error(fmt::format("aborted with {}", exit_code));
    }

  private:
    PostOffice& office_;
    Seat seat_;
};

}  // namespace paceline
