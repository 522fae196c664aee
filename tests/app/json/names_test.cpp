#include "app/json/names.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <string>

#include <doctest/doctest.h>

namespace paceline::names_test {
namespace {

using Names = std::vector<std::string_view>;

// The textbook definition of the distance, however slow.
std::size_t distance(std::string_view a, std::string_view b) {
    if (a.empty() || b.empty()) return std::max(a.size(), b.size());
    const std::size_t last = a.back() == b.back() ? 0 : 1;
    std::size_t least = std::min(
        {distance(a.substr(0, a.size() - 1), b) + 1, distance(a, b.substr(0, b.size() - 1)) + 1,
         distance(a.substr(0, a.size() - 1), b.substr(0, b.size() - 1)) + last});
    if (a.size() > 1 && b.size() > 1 && a.back() == b[b.size() - 2] && a[a.size() - 2] == b.back())
        least = std::min(least, distance(a.substr(0, a.size() - 2), b.substr(0, b.size() - 2)) + 1);
    return least;
}

std::string random_name(std::mt19937& random, std::size_t longest) {
    std::string name(1 + random() % longest, 'a');
    for (char& c : name) c = static_cast<char>('a' + random() % 3);
    return name;
}

TEST_CASE("names: a name that is known is its own nearest") {
    const Names known{"nodes", "fabric", "node"};

    CHECK(nearest("node", known) == "node");
    CHECK(nearest("nodes", known) == "nodes");
}

TEST_CASE("names: an insertion, a deletion, a replacement and a swap of neighbors each cost one") {
    const Names known{"abc"};  // one edit is forgiven in a name of three letters

    CHECK(nearest("ac", known) == "abc");
    CHECK(nearest("axc", known) == "abc");
    CHECK(nearest("acb", known) == "abc");
    CHECK(nearest("xyc", known).empty());
    CHECK(nearest("cab", known).empty());
}

TEST_CASE("names: a letter put in is forgiven twice where the longer name has more than three") {
    CHECK(nearest("aabc", Names{"abc"}) == "abc");
    CHECK(nearest("aabcc", Names{"abc"}) == "abc");
    CHECK(nearest("aabbcc", Names{"abc"}).empty());
}

TEST_CASE("names: nothing is near when every name differs by more than a third") {
    CHECK(nearest("colour", Names{"iterations", "epochs", "time"}).empty());
    CHECK(nearest("colour", Names{}).empty());
}

TEST_CASE("names: of equally near names the first is taken") {
    CHECK(nearest("aXc", Names{"abc", "adc"}) == "abc");
    CHECK(nearest("aXc", Names{"adc", "abc"}) == "adc");
}

TEST_CASE("names: the nearest name is taken, wherever it stands") {
    CHECK(nearest("gathred", Names{"all-gather", "scattered", "gathered"}) == "gathered");
    CHECK(nearest("resnet-11", Names{"resnet-50", "resnet-110"}) == "resnet-110");
}

TEST_CASE("names, property: near is what the definition of the distance says is near") {
    for (unsigned seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const std::string name = random_name(random, 6);
        const std::string other = random_name(random, 6);
        const std::size_t forgiven = (std::max(name.size(), other.size()) + 2) / 3;

        const bool near = !nearest(name, Names{other}).empty();

        CHECK(near == (distance(name, other) <= forgiven));
    }
}

TEST_CASE("names, property: nearness is symmetric") {
    for (unsigned seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const std::string a = random_name(random, 12);
        const std::string b = random_name(random, 12);

        const bool there = nearest(a, Names{b}) == b;
        const bool back = nearest(b, Names{a}) == a;

        CHECK(there == back);
    }
}

TEST_CASE("names, property: no known name is nearer than the nearest") {
    for (unsigned seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const std::string name = random_name(random, 6);
        const std::array<std::string, 3> known{random_name(random, 6), random_name(random, 6),
                                               random_name(random, 6)};
        const auto near = [&](const std::string& k) { return !nearest(name, Names{k}).empty(); };
        std::size_t least = 100;
        for (const std::string& k : known)
            if (near(k)) least = std::min(least, distance(name, k));

        const std::string_view found = nearest(name, Names(known.begin(), known.end()));

        CHECK((found.empty() ? 100 : distance(name, found)) == least);
    }
}

TEST_CASE("names: an unknown name is told with what was probably meant and all that is known") {
    CHECK(unknown_name("nodse", "a key here", Names{"fabric", "nodes"}) ==
          "\"nodse\" is not a key here; did you mean \"nodes\"? known: fabric, nodes");
}

TEST_CASE("names: an unknown name as a fault has the same words, and the near name alone") {
    const Fault near = unknown("nodse", "a key here", Names{"fabric", "nodes"});
    CHECK(near.problem == unknown_name("nodse", "a key here", Names{"fabric", "nodes"}));
    CHECK(near.suggestion == "nodes");
    CHECK(unknown("colour", "a key here", Names{"fabric", "nodes"}).suggestion.empty());
}

TEST_CASE("names: without a near name only the known ones are told") {
    CHECK(unknown_name("colour", "a key here", Names{"fabric", "nodes"}) ==
          "\"colour\" is not a key here; known: fabric, nodes");
}

TEST_CASE("names: a very long unknown name is told in part, and quickly") {
    const std::string name(10'000'000, 'x');

    const std::string message = unknown_name(name, "a key here", Names{"fabric", "nodes"});

    CHECK(message.size() < 200);
}

struct Entry {
    std::string_view name;
    int value;
};

TEST_CASE("names: the names of a table stand in its order") {
    const std::array<Entry, 2> table{{{"ring", 2}, {"complete", 1}}};

    CHECK(names_of(table) == Names{"ring", "complete"});
}

}  // namespace
}  // namespace paceline::names_test
