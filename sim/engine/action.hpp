// The work of an event: a member function, the object to call it on, and one number.
//
// Action is a plain struct of 24 bytes, so an event allocates nothing. The object must outlive the
// event or cancel it.
#pragma once

#include <cstdint>

namespace paceline {

struct Action {
    void (*call)(void* self, std::uint32_t argument) = nullptr;
    void* self = nullptr;
    std::uint32_t argument = 0;

    void operator()() const { call(self, argument); }
};

/// Returns the action that calls (self.*Method)(argument).
template <auto Method, class T>
Action action(T& self, std::uint32_t argument = 0) {
    return {[](void* object, std::uint32_t number) { (static_cast<T*>(object)->*Method)(number); },
            &self, argument};
}

}  // namespace paceline
