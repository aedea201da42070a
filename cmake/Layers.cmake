# The libraries of the programs. Each consists of a few folders. Its links define which folders its sources may include;
# tests/layers checks every #include against that.

add_library(memoir_options INTERFACE)
target_compile_options(memoir_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor
  -Woverloaded-virtual -Wformat=2 $<$<CXX_COMPILER_ID:Clang>:-Wreserved-identifier>)
if(CMAKE_UNITY_BUILD)
  # In a unity build GCC warns of false cases: it treats included source files as headers, and sees uninitialised uses after
  # more inlining.
  target_compile_options(memoir_options INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage;-Wno-maybe-uninitialized>)
endif()
if(MEMOIR_COVERAGE)
  # The path makes coverage counts go to the build folder, whatever the user, environment and working directory.
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
    # Finds undefined behaviour that sanitizers miss: std::clamp with swapped bounds, the value of an empty optional.
    target_compile_definitions(memoir_options INTERFACE _GLIBCXX_ASSERTIONS)
  endif()
  # GCC gives false warnings about instrumented code.
  target_compile_options(memoir_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  if("thread" IN_LIST MEMOIR_SANITIZE)
    # The thread sanitizer does not support the fences of Asio, which only one thread uses.
    target_compile_options(memoir_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
  endif()
endif()
if(NOT MEMOIR_SANITIZE AND NOT MEMOIR_COVERAGE)
  # A program contains only the parts of the libraries that it calls.
  target_compile_options(memoir_options INTERFACE -ffunction-sections -fdata-sections)
  target_link_options(memoir_options INTERFACE -Wl,--gc-sections)
endif()

# memoir_layer(NAME FOLDERS folders … [SMALL] [LINKS layers …] [USES layers …] [EXCEPT files …]
#   [PUBLIC|PRIVATE external targets …])
# Adds a library of all source files in FOLDERS, relative to the top of the tree, except main.cpp and the files of EXCEPT
# (without .cpp). Its sources may include its own folders and those of LINKS and USES. LINKS are passed on to targets that
# link the library, because its headers include theirs. SMALL optimises for size: such code runs rarely, in a program that
# stays in memory for months.
function(memoir_layer name)
  cmake_parse_arguments(ARG "SMALL" "" "FOLDERS;EXCEPT;LINKS;USES;PUBLIC;PRIVATE" ${ARGN})
  string(JOIN "|" except main ${ARG_EXCEPT})
  set(sources "")
  foreach(folder IN LISTS ARG_FOLDERS)
    file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
    list(FILTER found EXCLUDE REGEX "/(${except})\\.cpp$")
    list(APPEND sources ${found})
  endforeach()
  add_library(memoir_${name} STATIC ${sources})
  target_include_directories(memoir_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  list(TRANSFORM ARG_LINKS PREPEND memoir_ OUTPUT_VARIABLE links)
  list(TRANSFORM ARG_USES PREPEND memoir_ OUTPUT_VARIABLE uses)
  target_link_libraries(memoir_${name} PUBLIC ${links} ${ARG_PUBLIC} PRIVATE ${uses} memoir_options ${ARG_PRIVATE})
  if(ARG_SMALL)
    target_compile_options(memoir_${name} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-Os>)
  endif()
  string(REPLACE ";" " " row "${name}|${ARG_FOLDERS}|${ARG_LINKS}|${ARG_USES}|${ARG_EXCEPT}")
  set_property(GLOBAL APPEND PROPERTY MEMOIR_LAYERS ${name})
  set_property(GLOBAL APPEND_STRING PROPERTY MEMOIR_LAYER_TABLE "${row}\n")
endfunction()
