# Writes OUTPUT: for each suite of the GoogleTest program BINARY a test that runs the suite.
cmake_minimum_required(VERSION 3.24)
execute_process(COMMAND ${BINARY} --gtest_list_tests OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
# A suite's name ends in a point and stands at the beginning of a line, with what it is instantiated
# for behind it where it is.
string(REGEX MATCHALL "\n[A-Za-z0-9_/]+[.]" suites "\n${listed}")
if(NOT suites)
  message(FATAL_ERROR "${BINARY} lists no suite of tests")
endif()
set(tests "")
foreach(suite IN LISTS suites)
  string(REGEX REPLACE "^\n(.*)[.]$" "\\1" suite "${suite}")
  string(APPEND tests "add_test([[unit.${suite}]] [[${BINARY}]] [[--gtest_filter=${suite}.*]])\n")
endforeach()
file(WRITE ${OUTPUT} "${tests}")
