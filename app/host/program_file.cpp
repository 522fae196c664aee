#include "app/host/program_file.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include <dlfcn.h>
#include <fmt/ranges.h>
#ifdef __linux__
#include <link.h>
#endif

namespace paceline {

namespace fs = std::filesystem;

namespace {

// An object of this library; its address shows which file it was loaded from.
const char here = 0;

#ifdef __linux__
bool contains(const dl_phdr_info& object, const void* address) {
    const auto offset = reinterpret_cast<ElfW(Addr)>(address) - object.dlpi_addr;
    for (const ElfW(Phdr) & part : std::span(object.dlpi_phdr, object.dlpi_phnum))
        if (part.p_type == PT_LOAD && offset - part.p_vaddr < part.p_memsz) return true;
    return false;
}

// Returns the content of the note that the linker makes, if it is among these.
std::optional<std::string> build_id_among(std::span<const unsigned char> notes) {
    const auto padded = [](std::size_t size) { return (size + 3) / 4 * 4; };
    while (notes.size() > sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) head;
        std::memcpy(&head, notes.data(), sizeof(head));
        const auto content = notes.subspan(sizeof(head) + padded(head.n_namesz));
        if (head.n_type == NT_GNU_BUILD_ID)
            return fmt::format("{:02x}", fmt::join(content.first(head.n_descsz), ""));
        notes = content.subspan(padded(head.n_descsz));
    }
    return std::nullopt;
}
#endif

}  // namespace

fs::path program_file() {
    Dl_info info{};
#ifdef __GLIBC__
    void* map = nullptr;
    if (::dladdr1(&here, &info, &map, RTLD_DL_LINKMAP) != 0 && map != nullptr)
        // The loader gives the program itself no name.
        if (const fs::path name = static_cast<const link_map*>(map)->l_name; !name.empty())
            return fs::absolute(name);
    return fs::read_symlink("/proc/self/exe");
#else
    return ::dladdr(&here, &info) != 0 ? fs::canonical(info.dli_fname) : fs::path();
#endif
}

std::optional<std::string> build_id() {
    std::optional<std::string> id;
#ifdef __linux__
    ::dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* result) {
            if (!contains(*object, &here)) return 0;
            auto& found = *static_cast<std::optional<std::string>*>(result);
            for (const ElfW(Phdr) & part : std::span(object->dlpi_phdr, object->dlpi_phnum))
                if (const auto* notes =
                        // NOLINTNEXTLINE(performance-no-int-to-ptr)
                    reinterpret_cast<const unsigned char*>(object->dlpi_addr + part.p_vaddr);
                    part.p_type == PT_NOTE && !found)
                    found = build_id_among({notes, part.p_memsz});
            return 1;
        },
        &id);
#endif
    return id;
}

fs::path installed_place(const ShippedFolder& folder, const fs::path& program) {
    return (program.parent_path() / "../share/paceline" / folder.name).lexically_normal();
}

std::optional<fs::path> find_shipped(const ShippedFolder& folder, const fs::path& program) {
    constexpr std::string_view source_tree = PACELINE_SOURCE_TREE;
    std::vector<fs::path> places{installed_place(folder, program),
                                 program.parent_path() / folder.name};
    if (!source_tree.empty()) places.push_back(fs::path(source_tree) / folder.source_name);
    std::error_code ignored;
    for (const fs::path& place : places)
        if (fs::exists(place / folder.file, ignored)) return place;
    return std::nullopt;
}

}  // namespace paceline
