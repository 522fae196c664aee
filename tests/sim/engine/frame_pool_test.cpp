#include "sim/engine/frame_pool.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

namespace paceline::frame_pool_test {
namespace {

struct Block {
    unsigned char* memory;
    std::size_t size;
    unsigned char mark;
};

Block taken(FramePool& pool, std::size_t size, unsigned char mark) {
    const Block block{static_cast<unsigned char*>(pool.take(size)), size, mark};
    std::memset(block.memory, mark, size);
    return block;
}

bool holds_its_mark(const Block& block) {
    for (std::size_t i = 0; i < block.size; ++i)
        if (block.memory[i] != block.mark) return false;
    return true;
}

}  // namespace

TEST_CASE("frame pool: frames that live at a time never share a byte, whatever was freed between") {
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        FramePool pool;
        std::vector<Block> live;
        for (int i = 0; i < 2000; ++i) {
            if (live.empty() || random() % 2 == 0) {
                const std::size_t size = 1 + random() % (FramePool::largest + 200);
                live.push_back(taken(pool, size, static_cast<unsigned char>(i)));
                CHECK(reinterpret_cast<std::uintptr_t>(live.back().memory) %
                          __STDCPP_DEFAULT_NEW_ALIGNMENT__ ==
                      0);
            } else {
                std::swap(live[random() % live.size()], live.back());
                CHECK(holds_its_mark(live.back()));
                pool.give_back(live.back().memory, live.back().size);
                live.pop_back();
            }
        }
        for (const Block& block : live) {
            CHECK(holds_its_mark(block));
            pool.give_back(block.memory, block.size);
        }
    }
}

TEST_CASE("frame pool: a freed frame is the next of its size, on the thread that freed it") {
    FramePool pool;
    void* const first = pool.take(130);
    pool.give_back(first, 130);
    void* const of_another_size = pool.take(600);
    CHECK(of_another_size != first);
    void* const again = pool.take(136);  // of the same step of 16 bytes as 130
    CHECK((again == first) == FramePool::keeps_frames);
    pool.give_back(of_another_size, 600);

    void* on_another_thread = nullptr;
    std::thread([&] {
        FramePool::of_thread().give_back(again, 136);
        on_another_thread = FramePool::of_thread().take(136);
        FramePool::of_thread().give_back(on_another_thread, 136);
    }).join();
    CHECK((on_another_thread == first) == FramePool::keeps_frames);
}

TEST_CASE("frame pool: what large frames have left serves smaller ones") {
    if (!FramePool::keeps_frames) return;
    constexpr std::size_t count = 20'000;
    FramePool pool;
    const auto take_all = [&](std::size_t size) {
        std::vector<void*> all(count);
        for (void*& frame : all) frame = pool.take(size);
        return all;
    };
    const auto give_all = [&](const std::vector<void*>& all, std::size_t size) {
        for (void* const frame : all) pool.give_back(frame, size);
    };
    std::vector<void*> large = take_all(1000);
    const auto [low, high] = std::ranges::minmax_element(large);
    const auto is_among_them = [from = *low, to = *high](const void* frame) {
        return !std::less<>()(frame, from) && !std::less<>()(to, frame);
    };
    give_all(large, 1000);
    const std::vector<void*> small = take_all(300);
    CHECK(std::ranges::count_if(small, is_among_them) > std::ssize(small) * 9 / 10);
    give_all(small, 300);
    large = take_all(1000);
    give_all(large, 1000);
}

}  // namespace paceline::frame_pool_test
