#include "app/scenario/algorithms/words.hpp"

#include <doctest/doctest.h>

namespace paceline::words_test {
namespace {
}  // namespace
}  // namespace paceline::words_test
