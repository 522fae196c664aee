#include "sim/ahead/grouped_times.hpp"

#include <algorithm>
#include <cmath>

namespace paceline {

void GroupedTimes::begin(const MessageRounds& rounds) {
    rounds_ = &rounds;
    const auto members = static_cast<std::size_t>(rounds.members);
    instant_of_.assign(members, absent);
    blocks_.assign(members, unknown);
    instants_.clear();
    flows_.clear();
    some_block_ = unknown;
    has_one_size_ = true;
}

// Notes what the member sends. Returns false if it has no bytes for somebody, or others send that
// one a different block.
bool GroupedTimes::note_blocks(int place) {
    for (int round = 0; round < rounds_->count; ++round) {
        const Bytes size = rounds_->size(place, round);
        if (size == Bytes{0}) return false;
        if (some_block_ == unknown) some_block_ = size;
        has_one_size_ = has_one_size_ && size == some_block_;
        Bytes& block = blocks_[at(rounds_->who(place, round).to)];
        if (block == unknown) block = size;
        if (block != size) return false;
    }
    return true;
}

bool GroupedTimes::enter(int place, Time now, Bandwidth capacity) {
    if (instants_.empty()) capacity_ = capacity;
    if (capacity != capacity_ || !note_blocks(place)) return false;
    const bool is_new = instants_.empty() || instants_.back().at < now;
    if (is_new && !instants_.empty() && !has_one_size_) return false;
    if (!is_new && instants_.size() > 1 && !has_one_size_) return false;
    if (is_new) instants_.push_back({now, instants_.empty() ? 0 : instants_.back().inside});
    ++instants_.back().inside;
    instant_of_[at(place)] = instants_.size() - 1;
    return true;
}

double GroupedTimes::rate_among(int members) const {
    return bytes_per_tick(capacity_) / static_cast<double>(members - 1);
}

namespace {

// As Network::apply_rate rounds it.
Time drained_at(const FlowProgress& progress) {
    const double ticks = std::ceil(progress.remaining / progress.rate);
    const Duration left = ticks < static_cast<double>(Duration::max().count())
                              ? Duration{static_cast<std::int64_t>(ticks)}
                              : Duration::max();
    return later(progress.since, left);
}

}  // namespace

// A message of that size that sets out in that instant.
GroupedTimes::Flow GroupedTimes::flow_from(std::size_t instant, Bytes size) const {
    const Instant& first = instants_[instant];
    Flow flow{.set_out = first.at};
    FlowProgress& progress = flow.progress;
    if (first.inside < 2) return flow;
    progress = {first.at, static_cast<double>(size.count), rate_among(first.inside)};
    // Two members have their links to themselves
    flow.drain = first.inside == 2 ? later(first.at, size / capacity_) : drained_at(progress);
    for (std::size_t next = instant + 1; next < instants_.size(); ++next) {
        const Instant& change = instants_[next];
        if (flow.drain <= change.at) break;
        const auto elapsed = static_cast<double>((change.at - progress.since).count());
        progress.remaining = std::max(0.0, progress.remaining - progress.rate * elapsed);
        progress.since = change.at;
        progress.rate = rate_among(change.inside);
        flow.drain = drained_at(progress);
    }
    return flow;
}

void GroupedTimes::work_out() {
    flows_.clear();
    if (instants_.size() < 2) return;
    for (std::size_t instant = 0; instant < instants_.size(); ++instant)
        flows_.push_back(flow_from(instant, some_block_));
}

GroupedTimes::Flow GroupedTimes::flow(int from, int to) const {
    const std::size_t instant = std::max(instant_of_[at(from)], instant_of_[at(to)]);
    return flows_.empty() ? flow_from(instant, block(to)) : flows_[instant];
}

}  // namespace paceline
