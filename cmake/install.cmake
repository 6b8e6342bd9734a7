# `cmake --install` makes a tree that can be moved, and run on a machine with nothing but the GPU's driver:
# binaries, the shared libraries that they need besides the driver's, the scripts that run and report, and
# what those read. Unless told otherwise (CMAKE_INSTALL_PREFIX, --prefix), in the build folder.
if(CMAKE_INSTALL_PREFIX_INITIALIZED_TO_DEFAULT)
  set_property(CACHE CMAKE_INSTALL_PREFIX PROPERTY VALUE ${CMAKE_BINARY_DIR}/hipscope)
endif()

get_property(experiments GLOBAL PROPERTY hipscope_experiments)
foreach(experiment first_benchmark ${experiments})
  # An RPATH and no RUNPATH: it holds for the libraries that those libraries need, too. Without one in the
  # build folder CMake would make room there by empty entries, and each of those is the current folder.
  set_target_properties(${experiment} PROPERTIES BUILD_RPATH "$ORIGIN/../lib" INSTALL_RPATH "$ORIGIN/../lib")
  target_link_options(${experiment} PRIVATE LINKER:--disable-new-dtags)
endforeach()
install(TARGETS first_benchmark ${experiments} RUNTIME_DEPENDENCY_SET hipscope_shared_libraries DESTINATION bin)

# The C library and the driver's are the machine's own.
set(libraries_of_the_machine "^ld-linux" "^lib(c|m|dl|rt|pthread|util|resolv)\\.so" "^libcuda\\.so" "^libnvidia-")
install(RUNTIME_DEPENDENCY_SET hipscope_shared_libraries
  PRE_EXCLUDE_REGEXES ${libraries_of_the_machine}
  DIRECTORIES ${CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES} ${CMAKE_CUDA_IMPLICIT_LINK_DIRECTORIES}
  DESTINATION lib)

# AMD's runtime loads this one when it reads machine code; nothing is linked with it.
if(HIPSCOPE_BACKEND STREQUAL "amd")
  find_library(HIPSCOPE_COMGR amd_comgr HINTS ${hip_LIB_INSTALL_DIR} ENV ROCM_PATH /opt/rocm PATH_SUFFIXES lib)
  mark_as_advanced(HIPSCOPE_COMGR)
  if(HIPSCOPE_COMGR)
    set(install_comgr [[
      file(GET_RUNTIME_DEPENDENCIES LIBRARIES "@HIPSCOPE_COMGR@" RESOLVED_DEPENDENCIES_VAR needed
           PRE_EXCLUDE_REGEXES "@libraries_of_the_machine@")
      file(INSTALL "@HIPSCOPE_COMGR@" ${needed} DESTINATION "${CMAKE_INSTALL_PREFIX}/lib"
           TYPE SHARED_LIBRARY FOLLOW_SYMLINK_CHAIN)
    ]])
    list(JOIN libraries_of_the_machine "\" \"" libraries_of_the_machine)
    string(REPLACE "\\" "\\\\" libraries_of_the_machine "${libraries_of_the_machine}")
    string(CONFIGURE "${install_comgr}" install_comgr @ONLY)
    install(CODE "${install_comgr}")
  endif()
endif()

set(scripts common.sh detect_backend.sh experiments.sh find_python.sh jobs.sh run_all.sh
    compare.py export.py fleet.py html_report.py normal.py report.py)
list(TRANSFORM scripts PREPEND scripts/)
install(PROGRAMS ${scripts} DESTINATION scripts)
install(FILES scripts/card_experiments.txt DESTINATION scripts)
install(DIRECTORY scripts/hipscope DESTINATION scripts PATTERN __pycache__ EXCLUDE)
# Schemas, and the devices' results that a card is compared with; of the sources' figures everything.
install(DIRECTORY results DESTINATION . FILES_MATCHING PATTERN "*.json"
        PATTERN plots EXCLUDE PATTERN fleets EXCLUDE PATTERN isa EXCLUDE PATTERN host EXCLUDE)
install(DIRECTORY results/published DESTINATION results)
install(PROGRAMS hipscope DESTINATION .)
# Its manual page and bash's completion, of the help texts.
install(CODE "set(hipscope ${PROJECT_SOURCE_DIR}/hipscope)")
install(CODE [[
  set(share "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/share")
  file(MAKE_DIRECTORY ${share}/man/man1 ${share}/bash-completion/completions)
  execute_process(COMMAND ${hipscope} man OUTPUT_FILE ${share}/man/man1/hipscope.1 COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${hipscope} completion OUTPUT_FILE ${share}/bash-completion/completions/hipscope
                  COMMAND_ERROR_IS_FATAL ANY)
]])
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/version.txt CONTENT "${PROJECT_VERSION}\n")
install(FILES ${CMAKE_BINARY_DIR}/version.txt ${CMAKE_BINARY_DIR}/experiments.txt
              ${CMAKE_BINARY_DIR}/wave64_targets.txt requirements.txt README.md README.zh-CN.md LICENSE
        DESTINATION .)
include(cmake/licences.cmake)
include(cmake/package.cmake)
