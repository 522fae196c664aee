// The ranks of a job as threads of a test, with an in-memory communicator.
#pragma once

#include <deque>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/study/ranks/communicator.hpp"

namespace paceline {

class PostOffice {
  public:
    explicit PostOffice(int ranks) : boxes_(static_cast<std::size_t>(ranks)) {}

    [[nodiscard]] int ranks() const { return static_cast<int>(boxes_.size()); }
    void deliver(int to, RankMessage message) {
        const std::scoped_lock lock(mutex_);
        boxes_[static_cast<std::size_t>(to)].push_back(std::move(message));
    }
    std::optional<RankMessage> fetch(int rank) {
        const std::scoped_lock lock(mutex_);
        auto& box = boxes_[static_cast<std::size_t>(rank)];
        if (box.empty()) return std::nullopt;
        RankMessage message = std::move(box.front());
        box.pop_front();
        return message;
    }

  private:
    std::mutex mutex_;
    std::vector<std::deque<RankMessage>> boxes_;
};

class LocalCommunicator : public Communicator {
  public:
    using Communicator::send;

    LocalCommunicator(PostOffice& office, int rank) : office_(office) {
        info_.rank = rank;
        info_.ranks = office.ranks();
        info_.host = fmt::format("host{}", rank);
    }

    [[nodiscard]] const RankInfo& info() const override { return info_; }
    void send(int rank, MessageKind kind, std::uint64_t number, std::string text) override {
        office_.deliver(rank, {info_.rank, kind, number, std::move(text)});
    }
    std::optional<RankMessage> receive() override { return office_.fetch(info_.rank); }
    [[noreturn]] void abort(int exit_code) override {
        throw std::runtime_error(fmt::format("aborted with {}", exit_code));
    }

  private:
    PostOffice& office_;
    RankInfo info_;
};

}  // namespace paceline
