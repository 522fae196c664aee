// Counts allocations of this thread. The malloc below replaces the C library's in the whole test
// program. A build with sanitizers, which have a malloc of their own, leaves this file out.
#include <cstddef>

#include <doctest/doctest.h>

#include "tests/models/nets/net_cases.hpp"

#if defined(__GLIBC__)
#define PACELINE_COUNTS_ALLOCATIONS true
#else
#define PACELINE_COUNTS_ALLOCATIONS false
#endif

namespace {
thread_local std::size_t allocations = 0;
}

// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier): the C library's names
#if PACELINE_COUNTS_ALLOCATIONS
extern "C" void* __libc_malloc(std::size_t size);
extern "C" void* malloc(std::size_t size) {
    ++allocations;
    return __libc_malloc(size);
}
#endif
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)

namespace paceline::allocation_test {
namespace {

TEST_CASE("allocations: the counter sees those of Eigen and of the standard library" *
          doctest::skip(!PACELINE_COUNTS_ALLOCATIONS)) {
    const std::size_t before = allocations;
    const Eigen::VectorXd vector(1000);
    CHECK(allocations == before + 1);
    const std::vector<int> numbers(static_cast<std::size_t>(vector.size()));
    CHECK(allocations == before + 2);
}

TEST_CASE("nets: after the largest batch, gradients and scores allocate nothing" *
          doctest::skip(!PACELINE_COUNTS_ALLOCATIONS)) {
    for (const NetCase& net_case : net_cases()) {
        CAPTURE(net_case.name);
        RandomStream random = RandomStreams(1).stream("allocation");
        const auto net = net_case.in_float();
        const Samples largest = net_case.draw(random, 70);
        const Samples smaller = net_case.draw(random, 33);
        const Eigen::VectorXf x = random_point(random, net->layout()->entries(), 0.3).cast<float>();
        Eigen::VectorXf g;
        net->gradient(x, largest, g);

        const std::size_t before = allocations;
        net->gradient(x, smaller, g);
        net->gradient(x, largest, g);
        static_cast<void>(net->score(x, smaller));
        static_cast<void>(net->score(x, largest));
        CHECK(allocations == before);
    }
}

}  // namespace
}  // namespace paceline::allocation_test
