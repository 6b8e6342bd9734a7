# Libraries that may not be installed: what find_package or find_path finds is taken; else an archive of
# the sources, downloaded or from a folder, whose hash must be the one that is stated here.
#
#   hipscope_need_library(<name> URL <url> SHA256 <hash> DEBIAN <package>
#                         PACKAGE <package of find_package> | HEADER <header>)
#   ...
#   hipscope_get_libraries()
#
# After the latter <name>_FOUND says whether find_package found the library. If not, <name>_SOURCE_DIR is
# the folder of its sources. With HEADER <name>_INCLUDE is the folder to include it from, either way.
# FETCHCONTENT_SOURCE_DIR_<NAME> is a folder of sources that somebody has unpacked already.
include(FetchContent)

option(HIPSCOPE_FETCH "Download the libraries that are not found" ON)
set(HIPSCOPE_ARCHIVES "" CACHE PATH
    "A folder with archives of libraries, under any names, which are then not downloaded")

macro(hipscope_need_library name)
  cmake_parse_arguments(${name} "" "URL;SHA256;DEBIAN;PACKAGE;HEADER" "" ${ARGN})
  string(TOUPPER ${name} library_upper)
  if(FETCHCONTENT_SOURCE_DIR_${library_upper})
    set(${name}_FOUND FALSE)
  elseif(${name}_PACKAGE)
    find_package(${${name}_PACKAGE} QUIET)
    set(${name}_FOUND ${${${name}_PACKAGE}_FOUND})
  else()
    find_path(${library_upper}_INCLUDE_DIR ${${name}_HEADER})
    set(${name}_INCLUDE ${${library_upper}_INCLUDE_DIR})
    set(${name}_FOUND FALSE)
    if(${name}_INCLUDE)
      set(${name}_FOUND TRUE)
    endif()
  endif()
  if(NOT ${name}_FOUND)
    list(APPEND hipscope_libraries_to_get ${name})
  endif()
endmacro()

macro(hipscope_get_libraries)
  hipscope_find_archives("${hipscope_libraries_to_get}")
  foreach(library ${hipscope_libraries_to_get})
    hipscope_unpack(${library})
  endforeach()
  unset(hipscope_libraries_to_get)
endmacro()

# Sets <name>_archive to a file with the stated hash for each of the libraries, or ends with a sentence for
# each that there is none of.
function(hipscope_find_archives libraries)
  set(trouble "")
  foreach(library ${libraries})
    string(TOUPPER ${library} upper)
    if(FETCHCONTENT_SOURCE_DIR_${upper})
      continue()
    endif()
    set(why "is not installed, and HIPSCOPE_FETCH is OFF")
    hipscope_look_for(${${library}_SHA256} archive)
    if(NOT archive AND HIPSCOPE_FETCH)
      hipscope_download(${library} archive why)
    endif()
    if(archive)
      set(${library}_archive ${archive} PARENT_SCOPE)
    else()
      string(APPEND trouble "  ${library} ${why}.\n"
                            "    Debian and Ubuntu: ${${library}_DEBIAN}; its archive: ${${library}_URL}\n")
    endif()
  endforeach()
  if(trouble)
    message(FATAL_ERROR "Libraries that hipscope is built with are missing:\n${trouble}"
      "Install them, where CMAKE_PREFIX_PATH names other places than the system's; or put the archives into a "
      "folder and say -DHIPSCOPE_ARCHIVES=FOLDER (or so in the environment); or unpack one and say "
      "-DFETCHCONTENT_SOURCE_DIR_<NAME>=FOLDER, with its name in capitals.")
  endif()
endfunction()

# The file of this hash among the archives that are there, or nothing.
function(hipscope_look_for sha256 archive)
  set(${archive} "" PARENT_SCOPE)
  file(GLOB files ${CMAKE_BINARY_DIR}/archives/*)
  foreach(folder ${HIPSCOPE_ARCHIVES} $ENV{HIPSCOPE_ARCHIVES})
    file(GLOB more ${folder}/*)
    list(APPEND files ${more})
  endforeach()
  foreach(file ${files})
    if(NOT IS_DIRECTORY ${file})
      file(SHA256 ${file} hash)
      if(hash STREQUAL sha256)
        set(${archive} ${file} PARENT_SCOPE)
      endif()
    endif()
  endforeach()
endfunction()

# Downloads the library's archive; where that fails `archive` is nothing, and `why` says why.
function(hipscope_download library archive why)
  get_filename_component(name ${${library}_URL} NAME)
  set(file ${CMAKE_BINARY_DIR}/archives/${library}-${name})
  message(STATUS "hipscope: ${library} is not installed; downloading ${${library}_URL}")
  file(DOWNLOAD ${${library}_URL} ${file} STATUS status INACTIVITY_TIMEOUT 30 TLS_VERIFY ON)
  list(GET status 0 code)
  list(GET status 1 reason)
  set(trouble "")
  if(code)
    set(trouble "is not installed and cannot be downloaded (${reason})")
  else()
    file(SHA256 ${file} hash)
    if(NOT hash STREQUAL ${library}_SHA256)
      set(trouble "was downloaded, but is another file than expected: SHA256 ${hash}, not ${${library}_SHA256}")
    endif()
  endif()
  if(trouble)
    file(REMOVE ${file})
    set(file "")
  endif()
  set(${archive} "${file}" PARENT_SCOPE)
  set(${why} "${trouble}" PARENT_SCOPE)
endfunction()

# Sets <name>_SOURCE_DIR. Nothing of the library's own build is run.
macro(hipscope_unpack library)
  if(${library}_HEADER)
    hipscope_place_header(${library})
  else()
    FetchContent_Declare(${library} URL "${${library}_archive}" URL_HASH SHA256=${${library}_SHA256}
      DOWNLOAD_EXTRACT_TIMESTAMP TRUE SOURCE_SUBDIR no-build-of-its-own)
    FetchContent_MakeAvailable(${library})
  endif()
endmacro()

# A library that is one header: a folder in which it has the place that it is included from.
function(hipscope_place_header library)
  string(TOUPPER ${library} upper)
  get_filename_component(name ${${library}_HEADER} NAME)
  set(header ${${library}_archive})
  if(FETCHCONTENT_SOURCE_DIR_${upper})
    set(header ${FETCHCONTENT_SOURCE_DIR_${upper}}/${name})
  endif()
  set(${library}_INCLUDE ${CMAKE_BINARY_DIR}/_deps/${library}-src PARENT_SCOPE)
  configure_file(${header} ${CMAKE_BINARY_DIR}/_deps/${library}-src/${${library}_HEADER} COPYONLY)
endfunction()
