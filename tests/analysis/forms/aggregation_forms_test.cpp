// Forms of aggregations against sums on paper. exchange_forms_test.cpp holds them to simulations.
#include "analysis/forms/aggregation_forms.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "algorithms/compression/none.hpp"

namespace paceline::aggregation_forms_test {
namespace {

using namespace std::chrono_literals;
using namespace literals;

using Stages = std::vector<std::string>;

// "device 8" for 8 us on the device.
Stages in_words(const std::vector<PieceStage>& stages) {
    Stages words;
    for (const PieceStage& stage : stages) {
        const std::int64_t ns = stage.time / 1ns;
        words.push_back((stage.on_device ? "device " : "wires ") + std::to_string(ns));
    }
    return words;
}

// One byte an entry; two passes to encode and one to decode, of 1 ns an entry.
Codec byte_codec() {
    Compressor compressor;
    compressor.encode = 2;
    compressor.decode = 1;
    compressor.bits = [](const Tensor& tensor) { return 8 * tensor.entries(); };
    return {.coder = compressor, .coding = {1ns}};
}

const Layout four_thousand({{"a", {4, 1000}}});

// Four workers on a star, 8 ns a byte and 50 us a message.
const IdleStar star{1_Gbps, 50us};
StepModelInput on_star(int n = 4) {
    return {n, {star, {}, 1}, {}, {}, {}, fp32};
}

// Two machines of two on a bus, 0.8 ns a byte and 4 us a message.
StepModelInput on_machines() {
    StepModelInput in = on_star();
    in.network.bus = IdleStar{10_Gbps, 4us};
    in.network.devices = 2;
    return in;
}

struct Expected {
    Stages encode;
    Stages travel;
    Stages decode;
};

void check(const std::optional<PieceForm>& form, const Expected& expected) {
    REQUIRE(form.has_value());
    CHECK(in_words(form->encode) == expected.encode);
    CHECK(in_words(form->travel) == expected.travel);
    CHECK(in_words(form->decode) == expected.decode);
}

void check(const ExchangeOptions& options, const StepModelInput& in, const Expected& expected) {
    check(piece_form(options, four_thousand, 0, in), expected);
}

TEST_CASE("aggregation forms: all-gather sends whole messages and decodes each") {
    check({byte_codec(), {.kind = Aggregation::all_gather}, {}}, on_star(),
          {{"device 8000"}, {"wires 246000"}, {"device 16000"}});  // 3 (50 + 32)
}

TEST_CASE("aggregation forms: two-phase sends quarters twice, and owners work between") {
    check({byte_codec(), {.kind = Aggregation::two_phase}, {}}, on_star(),
          {{"device 8000"},
           {"wires 74000", "device 6000", "wires 174000"},  // 50 + 3 8, 4 + 2, 3 (50 + 8)
           {"device 4000"}});
    check({byte_codec(), {.kind = Aggregation::two_phase, .all_to_all = AllToAll::rounds}, {}},
          on_star(),
          {{"device 8000"},
           {"wires 174000", "device 6000", "wires 174000"},  // 3 (50 + 8), 4 + 2
           {"device 4000"}});
}

TEST_CASE("aggregation forms: error feedback takes two passes more where something is encoded") {
    Codec codec = byte_codec();
    codec.error_feedback = true;
    check({codec, {.kind = Aggregation::two_phase}, {}}, on_star(),
          {{"device 16000"}, {"wires 74000", "device 8000", "wires 174000"}, {"device 4000"}});
}

TEST_CASE("aggregation forms: servers on workers, encoded up: dense answers, nothing to decode") {
    check(
        {byte_codec(), {.kind = Aggregation::servers, .servers = 2, .coded = ServerCoding::up}, {}},
        on_star(),
        {{"device 8000"},
         {"wires 98000", "device 8000", "wires 242000"},  // 50 + 3 16, 4 2, 50 + 3 64
         {}});
}

TEST_CASE("aggregation forms: servers of their own, encoded both ways") {
    check({byte_codec(),
           {.kind = Aggregation::servers,
            .servers = 2,
            .first_server_node = 4,
            .coded = ServerCoding::both},
           {}},
          on_star(),
          {{"device 8000"},
           {"wires 114000", "device 12000", "wires 114000"},  // 50 + 4 16, 4 2 + 2 2
           {"device 4000"}});
}

TEST_CASE("aggregation forms: what is not encoded needs no device, but the algorithm's passes do") {
    const ExchangeOptions dense{
        {.coder = make_none(), .coding = {1ns}}, {.kind = Aggregation::all_reduce}, {}};
    check(dense, on_star(), {{}, {"wires 492000"}, {}});  // 6 (50 + 32)
    check(piece_form(dense, four_thousand, 3, on_star()), {{"device 12000"}, {"wires 492000"}, {}});
}

TEST_CASE(
    "aggregation forms: low rank is a sum of P, a pass and a sum of Q, also through servers") {
    // r = 1: P has 4 entries, Q has 1000.
    const Codec codec{.coder = LowRankCodec{1}, .coding = {1ns}};
    check({codec, {.kind = Aggregation::all_reduce}, {}}, on_star(),
          {{"device 8000"},
           {"wires 300192", "device 4000", "wires 348000"},  // 6 (50 + 0.032), 6 (50 + 8)
           {"device 8000"}});
    check({codec, {.kind = Aggregation::servers, .servers = 1, .coded = ServerCoding::none}, {}},
          on_star(),
          {{"device 8000"},
           {"wires 100768", "device 4000", "wires 292000"},  // 2 (50 + 3 0.128), 2 (50 + 3 32)
           {"device 8000"}});
}

TEST_CASE("aggregation forms: leaders reduce and broadcast dense vectors inside") {
    check({byte_codec(),
           {.kind = Aggregation::all_gather, .machines = ByMachine::leaders, .devices = 2},
           {}},
          on_machines(),
          {{},
           // 2 (4 + 6.4); 50 + 32; of two messages
           {"wires 20800", "device 8000", "wires 82000", "device 8000", "wires 20800"},
           {}});
}

TEST_CASE("aggregation forms: leaders that take encoded vectors encode their sum again") {
    check(
        {byte_codec(),
         {.kind = Aggregation::all_gather,
          .machines = ByMachine::leaders,
          .devices = 2,
          .encoded_inside = true},
         {}},
        on_machines(),
        {{"device 8000"},
         // 4 + 3.2; two messages; 50 + 32; 2 (4 + 3.2) for two messages
         {"wires 7200", "device 8000", "device 8000", "wires 82000", "wires 14400", "device 8000"},
         {}});
}

TEST_CASE("aggregation forms: leaders pass on a message of every machine") {
    StepModelInput in = on_machines();
    in.workers = 6;
    check({byte_codec(),
           {.kind = Aggregation::all_gather,
            .machines = ByMachine::leaders,
            .devices = 2,
            .encoded_inside = true},
           {}},
          in,
          {{"device 8000"},
           // 2 (50 + 32); 2 (4 + 4.8) for three messages
           {"wires 7200", "device 8000", "device 8000", "wires 164000", "wires 17600",
            "device 12000"},
           {}});
}

TEST_CASE(
    "aggregation forms: servers on machines wait for their card, or for their lane of a slow bus") {
    const ExchangeOptions four{
        byte_codec(),
        {.kind = Aggregation::servers, .servers = 4, .coded = ServerCoding::both},
        {}};
    StepModelInput in = on_machines();
    check(four, in,
          {{"device 8000"},
           {"wires 82000", "device 6000", "wires 82000"},  // 50 + 2 2 8
           {"device 4000"}});
    in.network.bus->bandwidth = 500_Mbps;
    check(four, in,
          {{"device 8000"},
           {"wires 98000", "device 6000", "wires 98000"},  // 50 + 3 16
           {"device 4000"}});
}

TEST_CASE(
    "aggregation forms: through servers, one-dimensional tensors travel with DGC's messages") {
    DgcOptions options;
    options.density = 0.01;
    options.format = {6, 4};
    options.selection.method = Selection::free;
    const Layout layout({{"a", {4, 1000}}, {"bias", {100}}});
    check(piece_form({{options}, {.kind = Aggregation::servers, .servers = 1}, {}}, layout, 0,
                     on_star(), 0.01),
          {{"device 0"}, {"wires 508960"}, {}});  // 2 50 + 3 (40 6 + 100 4 + 4100 4) 8 ns
}

TEST_CASE("aggregation forms: shards share the machine's card") {
    check({byte_codec(),
           {.kind = Aggregation::all_gather, .machines = ByMachine::shards, .devices = 2},
           {}},
          on_machines(),
          {{},
           // 4 + 6.4; half of 2 passes; 50 + 2 16; half of two messages
           {"wires 10400", "device 4000", "wires 82000", "device 4000", "wires 10400"},
           {}});
}

TEST_CASE("aggregation forms: shards of a dense ring are the hierarchical all-reduce") {
    const ExchangeOptions shards{
        {make_none()},
        {.kind = Aggregation::all_reduce, .machines = ByMachine::shards, .devices = 2},
        {}};
    const auto form = piece_form(shards, four_thousand, 0, on_machines());
    REQUIRE(form.has_value());
    CHECK(total_time(*form) ==
          hierarchical_all_reduce_time(2, 2, 16'000_B, {10_Gbps, 4us}, star, 2));
}

TEST_CASE("aggregation forms: tensors left out are cut apart from the others, and not coded") {
    Tensor last{"last", {1001}};
    last.left_out = true;
    const Layout layout({{"a", {4, 1000}}, last});
    check(piece_form({byte_codec(), {.kind = Aggregation::two_phase}, {}}, layout, 0, on_star()),
          {{"device 8000"},
           // 50 + 3 16.008, 3 (50 + 16.008): 1000 + 4004 / 4
           {"wires 98024", "device 6000", "wires 198024"},
           {"device 4000"}});
    last.shape = {1000};
    const Layout odd({{"a", {4, 1000}}, {"b", {4, 2}}, last});
    const ExchangeOptions thirds{byte_codec(), {.kind = Aggregation::two_phase}, {}};
    check(piece_form(thirds, odd, 0, on_star(3)),
          {{"device 8016"},
           // 50 + 2 8 (1336 + 1334), 1336 (3 + 2), 2 (50 + 8 (1336 + 1334))
           {"wires 92720", "device 6680", "wires 142720"},
           {"device 4008"}});
}

TEST_CASE(
    "aggregation forms: tensors left out travel with P, or behind the signs, and are not coded") {
    const Layout layout({{"a", {4, 1000}}, {"last", {20, 50}, /*left_out=*/true}});
    const Codec low_rank{.coder = LowRankCodec{1}, .coding = {1ns}};
    check(piece_form({low_rank, {.kind = Aggregation::all_reduce}, {}}, layout, 0, on_star()),
          {{"device 8000"},
           {"wires 348192", "device 4000", "wires 348000"},  // 6 (50 + 8.032), 6 (50 + 8)
           {"device 8000"}});
    for (const bool fused : {true, false}) {
        const Codec one_bit{.coder = OneBitCodec{fused}, .coding = {1ns}};
        check(piece_form({one_bit, {.kind = Aggregation::two_phase}, {}}, layout, 3, on_star()),
              {{"device 12000"},
               // 50 + 3 + 3 (50 + 0.032), 3 (50 + 1) + 3 (50 + 0.032); 6 (50 + 8)
               {"device 8000", "wires 203096", "device 6000", "wires 303096", "device 4000",
                "wires 348000"},
               {}});
    }
}

TEST_CASE("aggregation forms: a lone worker sends nothing, but codes") {
    for (const Aggregation kind : {Aggregation::all_gather, Aggregation::two_phase}) {
        const auto form =
            piece_form({byte_codec(), {.kind = kind}, {}}, four_thousand, 0, on_star(1));
        REQUIRE(form.has_value());
        const Duration own = kind == Aggregation::two_phase ? 12us : 0us;
        CHECK(total_time(*form) == 12us + own);
    }
}

TEST_CASE("aggregation forms: two-phase over machines of several workers has none") {
    CHECK_FALSE(piece_form({byte_codec(), {.kind = Aggregation::two_phase}, {}}, four_thousand, 0,
                           on_machines())
                    .has_value());
}

TEST_CASE(
    "aggregation forms, property: chunks are all entries in order, and differ by one at most") {
    for (unsigned seed = 0; seed < 500; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 rng(seed);
        std::vector<Tensor> tensors;
        for (std::uint64_t i = 0, count = 1 + rng() % 6; i < count; ++i)
            tensors.push_back({"",
                               {static_cast<std::int64_t>(1 + rng() % 4),
                                static_cast<std::int64_t>(1 + rng() % 20)}});
        const Layout layout(tensors);
        const auto k = static_cast<int>(1 + rng() % 12);
        std::int64_t entries = 0;
        for (int i = 0; i < k; ++i) {
            const std::int64_t held = form_of_chunk(layout, k, i).entries();
            REQUIRE(held >= layout.entries() / k);
            REQUIRE(held <= layout.entries() / k + 1);
            if (i > 0) REQUIRE(held >= form_of_chunk(layout, k, i - 1).entries());
            entries += held;
        }
        REQUIRE(entries == layout.entries());
    }
}

}  // namespace
}  // namespace paceline::aggregation_forms_test
