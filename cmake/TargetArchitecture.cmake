# PACELINE_ARCH: the instruction set for everything except the kernels, as a value of -march=.
#
# On x86-64 the default is x86-64-v3 (AVX2 and FMA: processors from 2013 on), so that one program runs on all of them.
# The kernels in models/kernels are also compiled for later instruction sets; the program chooses among them at startup.
# Elsewhere it is the compiler's own default. Results do not depend on it: "native" gives the same bytes, which CI
# checks.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    set(PACELINE_X86_64 ON)
    set(paceline_default_arch x86-64-v3)
else()
    set(PACELINE_X86_64 OFF)
    set(paceline_default_arch "")
endif()
set(PACELINE_ARCH "${paceline_default_arch}" CACHE STRING "Instruction set to compile for, as for -march= (empty: the compiler's default)")
if(PACELINE_ARCH)
    add_compile_options(-march=${PACELINE_ARCH})
endif()
