# SPDX-License-Identifier: Apache-2.0
# Third-party packages. Debian 12 and Ubuntu 24.04 (Catch2 2 and 3, Boost 1.74 and later).
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(sodium REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(pcre2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(grpc REQUIRED IMPORTED_TARGET grpc++)
pkg_check_modules(protobuf REQUIRED IMPORTED_TARGET protobuf)
pkg_check_modules(hwy REQUIRED IMPORTED_TARGET libhwy)
find_package(Boost 1.74 REQUIRED COMPONENTS context)  # and headers: Asio
find_package(CLI11 REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_path(ASSAY_TOMLPP_DIR toml++/toml.h REQUIRED)
find_path(ASSAY_LEVELDB_DIR leveldb/db.h REQUIRED)
find_library(ASSAY_LEVELDB_LIBRARY leveldb REQUIRED)
add_library(leveldb_index INTERFACE)
target_include_directories(leveldb_index SYSTEM INTERFACE ${ASSAY_LEVELDB_DIR})
target_link_libraries(leveldb_index INTERFACE ${ASSAY_LEVELDB_LIBRARY})

if(ASSAY_TORCH)
  find_package(Torch REQUIRED)
endif()

if(ASSAY_TESTS)
  find_package(Catch2 REQUIRED)
  find_package(rapidcheck CONFIG REQUIRED)
  # One definition of main for every test binary, on Catch2 2 and 3 alike.
  add_library(assay_catch_main STATIC ${CMAKE_SOURCE_DIR}/tests/support/catch_main.cpp)
  target_compile_options(assay_catch_main PRIVATE $<$<CONFIG:Release>:-O0>)  # the whole of Catch2 in one file
  target_include_directories(assay_catch_main PUBLIC ${CMAKE_SOURCE_DIR})
  if(Catch2_VERSION VERSION_LESS 3)
    target_compile_definitions(assay_catch_main PUBLIC ASSAY_CATCH2_V2)
  endif()
  target_link_libraries(assay_catch_main PUBLIC Catch2::Catch2 rapidcheck PRIVATE assay_base)
endif()
