// The entry point of the test program.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

// AddressSanitizer reads these options at startup. valijson 1.0, which checks the schema, calls
// free() on memory from new.
// NOLINTBEGIN(readability-identifier-naming): the name is the sanitizer's
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
    return "alloc_dealloc_mismatch=0";
}
// NOLINTEND(readability-identifier-naming)
