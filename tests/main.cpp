// The entry point of the test program.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

// What AddressSanitizer asks for at the start. valijson 1.0, which checks the schema, gives back
// with free() what it took from new.
// NOLINTBEGIN(readability-identifier-naming): the name is the sanitizer's
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
    return "alloc_dealloc_mismatch=0";
}
// NOLINTEND(readability-identifier-naming)
