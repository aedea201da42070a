# One library per folder of src/ and query/. A library's headers, and no others, are reachable through a directory of its
# own, so that a source file can include exactly the layers that its target links: `#include "store/reader.h"` in src/proc
# does not compile, nor does "store/sqlite/statement.h" in query/ask.

add_library(memoir_options INTERFACE)
target_compile_options(memoir_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor
  -Woverloaded-virtual -Wformat=2)
if(CMAKE_UNITY_BUILD)
  # GCC takes a source file that another includes for a header; and what it inlines more of, for uninitialised.
  target_compile_options(memoir_options INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage;-Wno-maybe-uninitialized>)
endif()
if(MEMOIR_COVERAGE)
  # Whoever runs a program, and in whatever environment and folder, its counts go to those of the build.
  set(counts ${CMAKE_BINARY_DIR}/counts)
  file(MAKE_DIRECTORY ${counts})
  file(CHMOD ${counts} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_WRITE GROUP_EXECUTE
    WORLD_READ WORLD_WRITE WORLD_EXECUTE)
  target_compile_options(memoir_options INTERFACE -fprofile-instr-generate=${counts}/%2m.profraw -fcoverage-mapping)
  target_link_options(memoir_options INTERFACE -fprofile-instr-generate)
endif()
if(MEMOIR_SANITIZE)
  list(JOIN MEMOIR_SANITIZE "," sanitizers)
  target_compile_options(memoir_options INTERFACE -fsanitize=${sanitizers} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(memoir_options INTERFACE -fsanitize=${sanitizers})
  if("undefined" IN_LIST MEMOIR_SANITIZE)
    # What the library calls undefined, but no sanitizer sees: std::clamp with its bounds swapped, an optional without a value.
    target_compile_definitions(memoir_options INTERFACE _GLIBCXX_ASSERTIONS)
  endif()
  # GCC's flow warning misfires on instrumented code.
  target_compile_options(memoir_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  if("thread" IN_LIST MEMOIR_SANITIZE)
    # The thread sanitizer does not see the fences of Asio, which one thread alone runs.
    target_compile_options(memoir_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
  endif()
endif()
if(NOT MEMOIR_SANITIZE AND NOT MEMOIR_COVERAGE)
  # Of the libraries a program has what it calls, and no more.
  target_compile_options(memoir_options INTERFACE -ffunction-sections -fdata-sections)
  target_link_options(memoir_options INTERFACE -Wl,--gc-sections)
endif()

# memoir_layer(NAME [SMALL] [SOURCES …] [HEADERS …] LINKS layers … USES layers … PRIVATE external targets …)
# LINKS are handed on to who links NAME, since its headers include theirs; USES are for its own source files alone.
# Without SOURCES all of the folder are its source files, but for main.cpp, and without HEADERS all its headers: of a folder
# with two targets each says which. SMALL is code that seldom runs, in a program that stays in memory for months: compiled to be
# small rather than fast.
function(memoir_layer name)
  cmake_parse_arguments(ARG "SMALL" "" "SOURCES;HEADERS;LINKS;USES;PRIVATE" ${ARGN})
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE folder)
  set_property(GLOBAL APPEND PROPERTY MEMOIR_LAYERS ${name})
  set_property(GLOBAL PROPERTY MEMOIR_FOLDER_${name} ${folder})
  string(REGEX REPLACE "^src/" "" path ${folder})
  set(root ${CMAKE_BINARY_DIR}/layers/${name})
  file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cpp)
  list(REMOVE_ITEM sources main.cpp)
  if(ARG_SOURCES)
    set(sources ${ARG_SOURCES})
  endif()
  file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.h)
  if(ARG_HEADERS)
    set(headers ${ARG_HEADERS})
  endif()
  # A build tree of an older version has a link to the whole folder there.
  if(IS_SYMLINK ${root}/${path})
    file(REMOVE ${root}/${path})
  endif()
  file(GLOB_RECURSE linked RELATIVE ${root}/${path} ${root}/${path}/*.h)
  foreach(header IN LISTS linked)
    if(NOT header IN_LIST headers)
      file(REMOVE ${root}/${path}/${header})
    endif()
  endforeach()
  file(MAKE_DIRECTORY ${root}/${path})
  foreach(header IN LISTS headers)
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${header} ${root}/${path}/${header} SYMBOLIC)
  endforeach()
  add_library(memoir_${name} STATIC ${sources})
  target_include_directories(memoir_${name} PUBLIC ${root})
  list(TRANSFORM ARG_LINKS PREPEND memoir_)
  list(TRANSFORM ARG_USES PREPEND memoir_)
  target_link_libraries(memoir_${name} PUBLIC ${ARG_LINKS} PRIVATE ${ARG_USES} memoir_options ${ARG_PRIVATE})
  if(ARG_SMALL)
    target_compile_options(memoir_${name} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-Os>)
  endif()
endfunction()
