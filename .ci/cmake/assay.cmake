# SPDX-License-Identifier: Apache-2.0
# Compiler settings and the three functions through which every target of the project is made.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2")  # kernels ask for -O3 themselves; ASSAY_CHECK never depends on NDEBUG

# Paths below the source folder are cached relative to it, so that a fresh clone finds what an older one built.
find_program(ASSAY_CCACHE ccache)
if(ASSAY_CCACHE)
  set(ASSAY_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=true
                     ${ASSAY_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${ASSAY_LAUNCHER})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ASSAY_LAUNCHER})
endif()

# GCC collects its own garbage from 512 MiB on, instead of 128: units of many files take a tenth less time, and a
# quarter of a GiB more memory.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options(--param=ggc-min-heapsize=524288)
endif()

# The law of numerics: no contraction, no fast-math, anywhere in the project.
add_compile_options(-ffp-contract=off -fno-fast-math)
if(ASSAY_SANITIZE)
  add_compile_options(-fsanitize=${ASSAY_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -g)
  add_link_options(-fsanitize=${ASSAY_SANITIZE})
  # GCC 12 takes an empty optional's contents for uninitialised behind a sanitizer's code (GCC bug 80635), and
  # warns of every fence of the standard library that ThreadSanitizer does not follow.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options(-Wno-maybe-uninitialized -Wno-tsan)
  endif()
endif()

add_library(assay_warnings INTERFACE)
target_compile_options(assay_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough
  # Designated initializers leave the rest to the defaults that the record states.
  -Wno-missing-field-initializers -Werror)

# OFF compiles every file alone, which finds a header that a file forgot (presets dev, asan, tsan, notorch).
option(ASSAY_UNITY "Compile several files of a target that says UNITY at a time" ON)

# Small files are compiled several at a time, which reads their common headers once; so names in their anonymous
# namespaces differ. A file with options of its own is compiled alone.
function(assay_unity name)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${ASSAY_UNITY} UNITY_BUILD_BATCH_SIZE 16)
endfunction()

# assay_library(NAME [UNITY] SOURCES … [PUBLIC …] [PRIVATE …]): explicit sources, private by default.
function(assay_library name)
  cmake_parse_arguments(A "UNITY" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${A_SOURCES})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${A_PUBLIC} PRIVATE assay_warnings ${A_PRIVATE})
  if(A_UNITY)
    assay_unity(${name})
  endif()
endfunction()

# assay_executable(NAME [UNITY] SOURCES … LINK …)
function(assay_executable name)
  cmake_parse_arguments(A "UNITY" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE assay_warnings ${A_LINK})
  if(A_UNITY)
    assay_unity(${name})
  endif()
endfunction()

# Seconds after which a test counts as hanging: some four times what the slowest takes on a busy slow machine, and
# short enough that a whole run with one such test ends within 90 minutes and names it. Sanitizers slow tests down.
# What only `make portability` runs has two hours (tests/portability).
set(ASSAY_TEST_TIMEOUT 1200)
if(ASSAY_SANITIZE)
  set(ASSAY_TEST_TIMEOUT 3600)
endif()

# assay_test(NAME [UNITY] [COST seconds] SOURCES … LINK … [LABELS …]): a Catch2 binary, one CTest test. COST is what a
# long one takes: a fresh clone has no times of an earlier run, and the longest are to begin first.
function(assay_test name)
  cmake_parse_arguments(A "UNITY" "COST" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE assay_warnings assay_catch_main ${A_LINK})
  if(A_UNITY)
    assay_unity(${name})
  endif()
  add_test(NAME ${name} COMMAND ${name})
  if(A_COST)
    set_tests_properties(${name} PROPERTIES COST ${A_COST})
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${A_LABELS}" TIMEOUT ${ASSAY_TEST_TIMEOUT}
    ENVIRONMENT "ASSAY_BIN_DIR=${CMAKE_BINARY_DIR}/bin;ASSAY_SOURCE_DIR=${CMAKE_SOURCE_DIR}")
endfunction()
