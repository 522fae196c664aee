# Compiles for WebAssembly with Debian's clang-19, wasi-libc, libc++ and compiler-rt (tools/deps.sh --explorer).
#
# Exceptions are those of WebAssembly. Debian's libc++abi is compiled without them; explorer/engine/exceptions.cpp has what it
# lacks. Vectors of 16 bytes (simd128) are in every browser since 2021 to 2023.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_CXX_COMPILER_TARGET wasm32-wasi)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_CXX_FLAGS_INIT "-fwasm-exceptions -msimd128 -stdlib=libc++")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
