# Cross-compiles for aarch64 Linux with clang. tools/aarch64_sysroot.sh fills build/aarch64-sysroot with Debian's arm64
# packages; qemu-aarch64 (Debian's qemu-user) runs the resulting programs.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)

set(PACELINE_AARCH64_SYSROOT "${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-sysroot"
    CACHE PATH "Where tools/aarch64_sysroot.sh unpacked Debian's arm64 packages")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PACELINE_AARCH64_SYSROOT)
get_filename_component(CMAKE_SYSROOT "${PACELINE_AARCH64_SYSROOT}" ABSOLUTE)

set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
# Finds crt1.o and libgcc inside the folder, not those of a cross compiler that may be installed.
add_compile_options(--gcc-install-dir=${CMAKE_SYSROOT}/usr/lib/gcc/aarch64-linux-gnu/12)
add_link_options(--gcc-install-dir=${CMAKE_SYSROOT}/usr/lib/gcc/aarch64-linux-gnu/12 -fuse-ld=lld)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

find_program(PACELINE_QEMU_AARCH64 qemu-aarch64)
if(PACELINE_QEMU_AARCH64)
    set(CMAKE_CROSSCOMPILING_EMULATOR "${PACELINE_QEMU_AARCH64};-L;${CMAKE_SYSROOT}")
endif()
