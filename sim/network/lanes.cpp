#include "sim/network/lanes.hpp"

namespace paceline {

namespace {

constexpr unsigned first_bits = 6;  // 64 buckets at first

}  // namespace

void Lane::withdraw(Join& receiver) {
    Join* before = nullptr;
    Join* one = first;
    while (one != nullptr && one != &receiver) {
        before = one;
        one = one->behind;
    }
    if (one == nullptr) return;
    (before == nullptr ? first : before->behind) = receiver.behind;
    if (last == &receiver) last = before;
    receiver.behind = nullptr;
    --waiting;
}

LaneTable::LaneTable() : buckets_(std::size_t{1} << first_bits, none), shift_(64 - first_bits) {}

LaneTable::Index LaneTable::add(std::size_t bucket, int to, int from, Stream stream) {
    if (size_ == buckets_.size()) {
        grow();
        bucket = bucket_of(to, from, stream);
    }
    Index index = free_lane_;
    if (index == none) {
        index = static_cast<Index>(lanes_.size());
        lanes_.emplace_back();
        if (index % 64 == 0) in_use_.push_back(0);
    } else {
        free_lane_ = lanes_[index].next;
    }
    Lane& lane = lanes_[index];
    lane.stream = stream;
    lane.from = from;
    lane.to = to;
    lane.under_way = 0;
    lane.next = buckets_[bucket];
    buckets_[bucket] = index;
    in_use_[index / 64] |= std::uint64_t{1} << (index % 64);
    ++size_;
    return index;
}

void LaneTable::remove(Index index) {
    Lane& lane = lanes_[index];
    Index* place = &buckets_[bucket_of(lane.to, lane.from, lane.stream)];
    while (*place != index) place = &lanes_[*place].next;
    *place = lane.next;
    lane.next = free_lane_;
    free_lane_ = index;
    in_use_[index / 64] &= ~(std::uint64_t{1} << (index % 64));
    --size_;
}

void LaneTable::grow() {
    --shift_;
    buckets_.assign(2 * buckets_.size(), none);
    for_each([this](Index index) {
        Lane& lane = lanes_[index];
        Index& bucket = buckets_[bucket_of(lane.to, lane.from, lane.stream)];
        lane.next = bucket;
        bucket = index;
    });
}

}  // namespace paceline
