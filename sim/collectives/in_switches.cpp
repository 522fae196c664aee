#include "sim/collectives/in_switches.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "sim/collectives/chunks.hpp"
#include "sim/collectives/double_tree.hpp"
#include "sim/collectives/in_rounds.hpp"
#include "sim/collectives/meeting.hpp"
#include "sim/collectives/slots.hpp"
#include "sim/engine/check.hpp"
#include "sim/engine/concurrency.hpp"

namespace paceline {

namespace {

using Inside = InSwitches::Inside;
using Between = InSwitches::Between;
using SliceSize = std::function<Bytes(int slice)>;

// Slices that all members pass to a switch.
struct Passing {
    int slices;
    int slots;
    SliceSize size;
    bool one_by_one = false;         // members meet for each slice, or once for all
    std::vector<Received*> needs{};  // of each slice
    std::vector<Received*> serves{};
};

Task<> meet(Rank self, const Passing& passing, Received& go) {
    const std::shared_ptr<Barrier> meeting = meeting_of(self);
    if (!passing.one_by_one) co_await meeting->arrive();
    for (int j = 0; j < passing.slices; ++j) {
        for (Received* needed : passing.needs) co_await needed->get();
        if (passing.one_by_one) co_await meeting->arrive();
        go.put(true);
    }
}

Task<> pass(Rank self, const Passing& passing, int& next, Received& go) {
    const int n = self.size();
    const int to = wrapped(self.place() + 1, n);
    const int from = wrapped(self.place() + n - 1, n);
    while (next < passing.slices) {
        const int slice = next++;
        co_await go.get();
        co_await self.exchange(to, passing.size(slice), from);
        for (Received* served : passing.serves) served->put(true);
    }
}

Task<> pass_to_switch(Rank self, Passing passing) {
    Received go;
    int next = 0;
    std::vector<Task<>> all;
    all.push_back(meet(self, passing, go));
    for (int slot = 0; slot < std::min(passing.slots, passing.slices); ++slot)
        all.push_back(pass(self, passing, next, go));
    co_await when_all(std::move(all));
}

struct Member {
    Rank self;
    Bytes size;
    Slices cut;
    InSwitches how;
    int devices;
    int slices;

    [[nodiscard]] int device() const { return self.place() % devices; }
    [[nodiscard]] int device_of(int head) const {
        return (head * devices + how.heads - 1) / how.heads;
    }
    // Returns -1 for a device that is no head.
    [[nodiscard]] int head() const {
        const int head = device() * how.heads / devices;
        return device_of(head) == device() ? head : -1;
    }
    [[nodiscard]] Rank inside(int stream) const {
        return self.part(self.place() - device(), 1, devices).on_ring_stream(stream);
    }
    [[nodiscard]] Rank between() const {
        return self.part(device(), devices, self.size() / devices);
    }
    [[nodiscard]] Bytes shard(int head) const { return chunk(size, how.heads, head); }
    [[nodiscard]] Bytes slice_of(int head, int slice) const {
        if (how.between == Between::in_switch) return chunk(shard(head), slices, slice);
        return chunk(chunk(shard(head), 2, 0), slices, slice) +
               chunk(chunk(shard(head), 2, 1), slices, slice);
    }
    [[nodiscard]] Bytes slice_of_all(int slice) const {
        Bytes all{};
        for (int i = 0; i < how.heads; ++i) all = all + slice_of(i, slice);
        return all;
    }
};

// How slices go from stage to stage on a head; of trees, by half.
struct Stages {
    std::array<Received, 2> gathered;
    std::array<Received, 2> paced;
    std::array<Received, 2> summed;

    [[nodiscard]] static std::vector<Received*> all_of(std::array<Received, 2>& halves,
                                                       const Member& of) {
        if (of.how.between == Between::in_switch) return {halves.data()};
        return {halves.data(), &halves[1]};
    }
};

void put(const std::vector<Received*>& served) {
    for (Received* one : served) one->put(true);
}

// --- inside, in the switch ---

void add_switch(const Member& of, Stages& stages, std::vector<Task<>>& all) {
    const SliceSize size = [of](int slice) {
        return passed_to_switch(of.slice_of_all(slice), of.how.heads);
    };
    Passing sums{.slices = of.slices, .slots = of.cut.slots, .size = size};
    Passing copies{.slices = of.slices, .slots = of.cut.slots, .size = size, .one_by_one = true};
    if (of.head() >= 0) {
        sums.serves = Stages::all_of(stages.gathered, of);
        copies.needs = Stages::all_of(stages.summed, of);
    }
    all.push_back(pass_to_switch(of.inside(1), std::move(sums)));
    all.push_back(pass_to_switch(of.inside(2), std::move(copies)));
}

// --- inside, each device to each head ---

Task<> send_slice(Rank self, int to, Bytes size) {
    co_await self.send(to, size);
}

Task<> scatter(const Member& of, Rank inside) {
    for (int slice = 0; slice < of.slices; ++slice) {
        std::vector<Task<>> sent;
        for (int i = 0; i < of.how.heads; ++i)
            if (of.head() != i)
                sent.push_back(send_slice(inside, of.device_of(i), of.slice_of(i, slice)));
        co_await when_all(std::move(sent));
    }
}

Task<> gather(const Member& of, std::vector<std::unique_ptr<Received>>& from, Stages& stages) {
    for (int slice = 0; slice < of.slices; ++slice) {
        for (const auto& other : from) co_await other->get();
        put(Stages::all_of(stages.gathered, of));
    }
}

Task<> give_back(const Member& of, Rank inside, Stages& stages) {
    for (int slice = 0; slice < of.slices; ++slice) {
        for (Received* half : Stages::all_of(stages.summed, of)) co_await half->get();
        std::vector<Task<>> sent;
        for (int other = 0; other < of.devices; ++other)
            if (other != of.device())
                sent.push_back(send_slice(inside, other, of.slice_of(of.head(), slice)));
        co_await when_all(std::move(sent));
    }
}

Task<> receive_all(const Member& of, Rank inside, int from) {
    Received received;
    co_await receive_in_slots(inside, from, of.slices, of.cut.slots, received);
}

Task<> directly(const Member& of, Stages& stages) {
    const Rank to_heads = of.inside(1);
    const Rank from_heads = of.inside(2);
    std::vector<std::unique_ptr<Received>> from;
    std::vector<Task<>> all;
    all.push_back(scatter(of, to_heads));
    for (int i = 0; i < of.how.heads; ++i)
        if (of.head() != i) all.push_back(receive_all(of, from_heads, of.device_of(i)));
    if (of.head() >= 0) {
        for (int other = 0; other < of.devices; ++other) {
            if (other == of.device()) continue;
            from.push_back(std::make_unique<Received>());
            all.push_back(receive_in_slots(to_heads, other, of.slices, of.cut.slots, *from.back()));
        }
        all.push_back(gather(of, from, stages));
        all.push_back(give_back(of, from_heads, stages));
    }
    co_await when_all(std::move(all));
}

// --- inside, along a chain behind each head ---

Task<> pass_along(const Member& of, int head, Rank inside, int to, std::vector<Received*> from,
                  std::vector<Received*> serves) {
    for (int slice = 0; slice < of.slices; ++slice) {
        for (Received* needed : from) co_await needed->get();
        if (to >= 0) co_await inside.send(to, of.slice_of(head, slice));
        put(serves);
    }
}

Task<> along_chain(const Member& of, int head, Stages& stages) {
    const int g = of.devices;
    const int behind = (of.device() + g - of.device_of(head)) % g;  // the head
    const Rank up = of.inside(1 + 2 * head);
    const Rank down = of.inside(2 + 2 * head);
    const int above = wrapped(of.device() + g - 1, g);
    const int below = wrapped(of.device() + 1, g);
    const bool is_head = behind == 0;
    const bool is_last = behind + 1 == g;
    Received from_below;
    Received from_above;
    std::vector<Received*> summed;
    std::vector<Task<>> all;
    if (!is_last) {
        all.push_back(receive_in_slots(up, below, of.slices, of.cut.slots, from_below));
        summed.push_back(&from_below);
    }
    if (!is_head) all.push_back(receive_in_slots(down, above, of.slices, of.cut.slots, from_above));
    all.push_back(
        pass_along(of, head, up, is_head ? -1 : above, std::move(summed),
                   is_head ? Stages::all_of(stages.gathered, of) : std::vector<Received*>{}));
    all.push_back(pass_along(
        of, head, down, is_last ? -1 : below,
        is_head ? Stages::all_of(stages.summed, of) : std::vector<Received*>{&from_above}, {}));
    co_await when_all(std::move(all));
}

// --- between machines ---

// Passes on what has been gathered, no faster than a head is.
Task<> keep_pace(const Member& of, Stages& stages) {
    Simulation& simulation = of.self.network().simulation();
    Time free{};
    for (int slice = 0; slice < of.slices; ++slice) {
        for (Received* half : Stages::all_of(stages.gathered, of)) co_await half->get();
        if (free > simulation.now()) co_await simulation.sleep(free - simulation.now());
        if (of.how.of_head)
            free = simulation.now() + of.slice_of(of.head(), slice) / *of.how.of_head;
        put(Stages::all_of(stages.paced, of));
    }
}

Task<> among_heads(const Member& of, Stages& stages) {
    const Bytes shard = of.shard(of.head());
    if (of.how.between == Between::in_switch)
        return pass_to_switch(of.between(),
                              {.slices = of.slices,
                               .slots = of.cut.slots,
                               .size = [of, shard](int j) { return chunk(shard, of.slices, j); },
                               .one_by_one = true,
                               .needs = Stages::all_of(stages.paced, of),
                               .serves = Stages::all_of(stages.summed, of)});
    const std::array<TreeEnds, 2> ends{
        {{stages.paced.data(), stages.summed.data()}, {&stages.paced[1], &stages.summed[1]}}};
    return double_tree_of_slices(of.between(), shard, of.slices, of.cut.slots, ends);
}

}  // namespace

int slices_in_switches(Bytes size, const Slices& cut, const InSwitches& how) {
    const Bytes shard = chunk(size, how.heads, how.heads - 1);
    return slices_of(how.between == Between::in_switch ? shard : chunk(shard, 2, 1), cut);
}

Task<> all_reduce_in_one_switch(Rank self, Bytes size) {
    const int n = self.size();
    if (n == 1) co_return;
    const std::shared_ptr<Barrier> meeting = meeting_of(self);
    co_await meeting->arrive();
    const auto who = [n](int place, int) -> RoundOfMember {
        return {wrapped(place + 1, n), wrapped(place + n - 1, n)};
    };
    co_await in_rounds(std::move(self), {.members = n,
                                         .count = 1,
                                         .partners = Partners::ring,
                                         .who = who,
                                         .size = [size](int, int) { return size; }});
}

Task<> all_reduce_in_switches(Rank self, Bytes size, Slices cut, int devices, InSwitches how) {
    PACELINE_CHECK(self.size() % devices == 0 && self.size() > devices,
                   "sums in switches are for full machines");
    PACELINE_CHECK(how.heads >= 1 && how.heads <= devices, "a head is a device");
    const Member of{std::move(self), size, cut, how, devices, slices_in_switches(size, cut, how)};
    Stages stages;
    std::vector<Task<>> all;
    if (how.inside == Inside::in_switch) add_switch(of, stages, all);
    if (how.inside == Inside::direct) all.push_back(directly(of, stages));
    if (how.inside == Inside::chain)
        for (int head = 0; head < how.heads; ++head) all.push_back(along_chain(of, head, stages));
    if (of.head() >= 0) {
        all.push_back(keep_pace(of, stages));
        all.push_back(among_heads(of, stages));
    }
    co_await when_all(std::move(all));
}

}  // namespace paceline
