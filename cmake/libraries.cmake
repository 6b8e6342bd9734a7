# What hipscope is built with: headers alone, but for the tests' GoogleTest. Versions that are fetched where
# none is installed; any that a distribution of the last years has does as well.
include(${CMAKE_CURRENT_LIST_DIR}/fetch.cmake)

hipscope_need_library(cli11 PACKAGE CLI11 DEBIAN libcli11-dev
  URL https://github.com/CLIUtils/CLI11/archive/refs/tags/v2.4.1.tar.gz
  SHA256 73b7ec52261ce8fe980a29df6b4ceb66243bb0b779451dbd3d014cfec9fdbb58)
hipscope_need_library(nlohmann_json PACKAGE nlohmann_json DEBIAN nlohmann-json3-dev
  URL https://github.com/nlohmann/json/archive/refs/tags/v3.11.3.tar.gz
  SHA256 0d8ef5af7f9794e3263480193c491549b2ba6cc74bb018906202ada498a79406)
hipscope_need_library(fmt PACKAGE fmt DEBIAN libfmt-dev
  URL https://github.com/fmtlib/fmt/releases/download/11.1.4/fmt-11.1.4.zip
  SHA256 49b039601196e1a765e81c5c9a05a61ed3d33f23b3961323d7322e4fe213d3e6)
# It has no releases; Debian's is of this revision, too.
hipscope_need_library(csv HEADER libfccp/csv.h DEBIAN libfccp-dev
  URL https://raw.githubusercontent.com/ben-strasser/fast-cpp-csv-parser/9bf299cefb60d0e4ba7dc79d51491595ab1b3213/csv.h
  SHA256 4d21e249027fb42cddea2edc85c8db1315d9be779fad6740ccaff7891ff9bbb3)
if(HIPSCOPE_TESTS)
  hipscope_need_library(googletest PACKAGE GTest DEBIAN libgtest-dev
    URL https://github.com/google/googletest/archive/refs/tags/release-1.12.1.tar.gz
    SHA256 81964fe578e9bd7c94dfdb09c8e4d6e6759e19967e397dbea48d1c10e45d0df2)
endif()
hipscope_get_libraries()

# Targets as the packages would make them. What is imported is included as the system's headers are: its
# warnings are not ours.
function(hipscope_import target include)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${include})
endfunction()

if(NOT cli11_FOUND)
  hipscope_import(CLI11::CLI11 ${cli11_SOURCE_DIR}/include)
endif()
if(NOT nlohmann_json_FOUND)
  hipscope_import(nlohmann_json::nlohmann_json ${nlohmann_json_SOURCE_DIR}/single_include)
endif()
if(NOT fmt_FOUND)
  hipscope_import(fmt::fmt-header-only ${fmt_SOURCE_DIR}/include)
  set_target_properties(fmt::fmt-header-only PROPERTIES INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY=1)
endif()
if(HIPSCOPE_TESTS AND NOT googletest_FOUND)
  find_package(Threads REQUIRED)
  set(googletest ${googletest_SOURCE_DIR}/googletest)
  add_library(hipscope_googletest STATIC EXCLUDE_FROM_ALL ${googletest}/src/gtest-all.cc)
  target_include_directories(hipscope_googletest SYSTEM PUBLIC ${googletest}/include PRIVATE ${googletest})
  target_link_libraries(hipscope_googletest PUBLIC Threads::Threads)
  add_library(hipscope_googletest_main STATIC EXCLUDE_FROM_ALL ${googletest}/src/gtest_main.cc)
  target_link_libraries(hipscope_googletest_main PUBLIC hipscope_googletest)
  foreach(target hipscope_googletest hipscope_googletest_main)
    target_compile_options(${target} PRIVATE ${hipscope_plain_cxx} -w)
  endforeach()
  add_library(GTest::gtest ALIAS hipscope_googletest)
  add_library(GTest::gtest_main ALIAS hipscope_googletest_main)
endif()
