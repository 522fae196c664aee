// C++ exceptions on WebAssembly: the part of the Itanium C++ ABI that Debian's libc++abi for WASI
// lacks, because it is compiled without exceptions.
//
// The compiler throws a WebAssembly exception whose one value is a pointer, here to a Flight. Each
// throw makes a flight; rethrowing an exception_ptr makes another one of the same object, so that
// an object can be on its way more than once. The object counts its flights and exception_ptrs.
//
// A landing pad calls _Unwind_CallPersonality with the number of its call site. That finds the
// clauses in the function's table (LSDA) and answers with the number of the first that fits. Pads
// which catch everything do not ask.
//
// https://itanium-cxx-abi.github.io/cxx-abi/abi-eh.html, abi.html#rtti-layout, and LLVM's
// EHStreamer.cpp for the form that the table has on WebAssembly.
//
// Limits: exceptions are caught by their own class or a base class that is unambiguous at a fixed
// offset (no virtual bases). Pointers are caught by their exact type. Function try specifications
// other than noexcept do not exist in C++20.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <typeinfo>

namespace __cxxabiv1 {

// As the ABI lays them out. libc++abi defines their tables.
class __class_type_info : public std::type_info {
  public:
    ~__class_type_info() override;
};

class __si_class_type_info : public __class_type_info {
  public:
    ~__si_class_type_info() override;
    const __class_type_info* __base_type;
};

struct __base_class_type_info {
    const __class_type_info* __base_type;
    long __offset_flags;
};

class __vmi_class_type_info : public __class_type_info {
  public:
    ~__vmi_class_type_info() override;
    unsigned int __flags;
    unsigned int __base_count;
    __base_class_type_info __base_info[1];
};

}  // namespace __cxxabiv1

namespace {

using Type = const std::type_info;
using Destroy = void* (*)(void*);  // destructors return their object on WebAssembly

struct alignas(16) Object {
    std::size_t holders = 0;  // flights and exception_ptrs
    Type* type = nullptr;
    Destroy destroy = nullptr;

    void* value() { return this + 1; }
    static Object& of(void* value) { return static_cast<Object*>(value)[-1]; }
    void let_go() {
        if (--holders > 0) return;
        if (destroy != nullptr) destroy(value());
        std::free(this);
    }
};

struct Flight {
    Object* object = nullptr;
    void* caught_as = nullptr;  // the object, or its base class that the handler names
    int handlers = 0;           // that have begun and not ended
    bool thrown_again = false;
    Flight* below = nullptr;  // caught before it
};

Flight* caught = nullptr;  // the innermost
unsigned on_the_way = 0;

[[noreturn]] void fly(Flight* flight) {
    ++on_the_way;
    __builtin_wasm_throw(0, flight);
}

[[noreturn]] void fly(Object& object) {
    auto* flight = static_cast<Flight*>(std::malloc(sizeof(Flight)));
    if (flight == nullptr) std::abort();
    ++object.holders;
    fly(new (flight) Flight{&object, object.value()});
}

void end(Flight* flight) {
    flight->object->let_go();
    std::free(flight);
}

// Returns the part of an object of class `from` that is a `to`; null if it has none.
void* as_base(void* value, Type& from, Type& to) {
    using namespace __cxxabiv1;
    if (from == to) return value;
    if (const auto* single = dynamic_cast<const __si_class_type_info*>(&from))
        return as_base(value, *single->__base_type, to);
    const auto* several = dynamic_cast<const __vmi_class_type_info*>(&from);
    if (several == nullptr) return nullptr;
    for (unsigned i = 0; i < several->__base_count; ++i) {
        const __base_class_type_info& base = several->__base_info[i];
        constexpr long is_virtual = 1, is_public = 2;
        constexpr int offset_shift = 8;
        if ((base.__offset_flags & is_virtual) != 0 || (base.__offset_flags & is_public) == 0)
            continue;
        void* const part = static_cast<char*>(value) + (base.__offset_flags >> offset_shift);
        if (void* const found = as_base(part, *base.__base_type, to)) return found;
    }
    return nullptr;
}

// Reads numbers of the table one after the other.
struct Reader {
    const std::uint8_t* at;

    std::uint8_t byte() { return *at++; }
    std::size_t uleb() {
        std::size_t number = 0;
        for (unsigned shift = 0;; shift += 7) {
            const std::uint8_t next = byte();
            number |= static_cast<std::size_t>(next & 0x7f) << shift;
            if (next < 0x80) return number;
        }
    }
    std::ptrdiff_t sleb() {
        std::size_t number = 0;
        for (unsigned shift = 0;;) {
            const std::uint8_t next = byte();
            number |= static_cast<std::size_t>(next & 0x7f) << shift;
            shift += 7;
            if (next >= 0x80) continue;
            if ((next & 0x40) != 0 && shift < 8 * sizeof number) number |= ~std::size_t{0} << shift;
            return static_cast<std::ptrdiff_t>(number);
        }
    }
};

constexpr std::uint8_t omitted = 0xff;

struct Clauses {
    const std::uint8_t* first = nullptr;  // null: there are none
    const std::uint8_t* types_end = nullptr;
};

// Returns the clauses of a call site: the table is a header, (call site, action) pairs, actions
// (number of a type, offset of the next action) and, before `types_end`, types.
Clauses clauses_of(const std::uint8_t* table, std::size_t site) {
    Reader header{table};
    if (header.byte() != omitted) std::abort();  // where landing pads start: nothing on WebAssembly
    const std::uint8_t* types_end = nullptr;
    if (header.byte() != omitted) {
        const std::size_t offset = header.uleb();
        types_end = header.at + offset;
    }
    header.byte();  // the encoding of call sites: ULEB128
    const std::size_t length = header.uleb();
    const std::uint8_t* const actions = header.at + length;
    for (Reader sites{header.at}; sites.at < actions;) {
        const std::size_t number = sites.uleb();
        const std::size_t action = sites.uleb();
        if (number == site) return {action == 0 ? nullptr : actions + action - 1, types_end};
    }
    return {};
}

Type* type_number(const Clauses& clauses, std::ptrdiff_t number) {
    Type* type = nullptr;
    std::memcpy(&type, clauses.types_end - number * std::ptrdiff_t{sizeof type}, sizeof type);
    return type;
}

}  // namespace

extern "C" {

// What a landing pad and _Unwind_CallPersonality exchange.
struct _Unwind_LandingPadContext {
    std::uintptr_t lpad_index;
    std::uintptr_t lsda;
    std::uintptr_t selector;
};
_Unwind_LandingPadContext __wasm_lpad_context;

int _Unwind_CallPersonality(void* exception) {
    auto& pad = __wasm_lpad_context;
    auto* const flight = static_cast<Flight*>(exception);
    pad.selector = 0;
    const Clauses clauses =
        clauses_of(reinterpret_cast<const std::uint8_t*>(pad.lsda), pad.lpad_index);
    for (const std::uint8_t* clause = clauses.first; clause != nullptr;) {
        Reader reader{clause};
        const std::ptrdiff_t number = reader.sleb();
        const std::uint8_t* const from = reader.at;
        const std::ptrdiff_t next = reader.sleb();
        if (number > 0) {
            Type* const wanted = type_number(clauses, number);
            void* const part = wanted == nullptr ? flight->object->value()
                                                 : as_base(flight->object->value(),
                                                           *flight->object->type, *wanted);
            if (part != nullptr) {
                flight->caught_as = part;
                pad.selector = static_cast<std::uintptr_t>(number);
                return 0;
            }
        }
        clause = next == 0 ? nullptr : from + next;
    }
    return 0;
}

void* __cxa_allocate_exception(std::size_t size) noexcept {
    void* const memory = std::malloc(sizeof(Object) + size);
    if (memory == nullptr) std::abort();
    return (new (memory) Object)->value();
}

void __cxa_free_exception(void* value) noexcept {
    std::free(&Object::of(value));
}

[[noreturn]] void __cxa_throw(void* value, std::type_info* type, Destroy destroy) {
    Object& object = Object::of(value);
    object.type = type;
    object.destroy = destroy;
    fly(object);
}

void* __cxa_begin_catch(void* exception) noexcept {
    auto* const flight = static_cast<Flight*>(exception);
    --on_the_way;
    ++flight->handlers;
    flight->thrown_again = false;
    if (caught != flight) {
        flight->below = caught;
        caught = flight;
    }
    return flight->caught_as;
}

void* __cxa_get_exception_ptr(void* exception) noexcept {
    return static_cast<Flight*>(exception)->caught_as;
}

void __cxa_end_catch() {
    Flight* const flight = caught;
    if (flight == nullptr || --flight->handlers > 0) return;
    caught = flight->below;
    if (!flight->thrown_again) end(flight);
}

[[noreturn]] void __cxa_rethrow() {
    if (caught == nullptr) std::terminate();
    caught->thrown_again = true;
    fly(caught);
}

// std::exception_ptr is made of these.
void __cxa_increment_exception_refcount(void* value) noexcept {
    if (value != nullptr) ++Object::of(value).holders;
}

void __cxa_decrement_exception_refcount(void* value) noexcept {
    if (value != nullptr) Object::of(value).let_go();
}

void* __cxa_current_primary_exception() noexcept {
    if (caught == nullptr) return nullptr;
    ++caught->object->holders;
    return caught->object->value();
}

void __cxa_rethrow_primary_exception(void* value) {
    if (value != nullptr) fly(Object::of(value));
}

unsigned __cxa_uncaught_exceptions() noexcept {
    return on_the_way;
}

bool __cxa_uncaught_exception() noexcept {
    return on_the_way > 0;
}

// There is one thread, which ends with the instance.
int __cxa_thread_atexit(void (*)(void*), void*, void*) noexcept {
    return 0;
}

}  // extern "C"
