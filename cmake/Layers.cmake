# One library per folder of src/. A library's headers are reachable only through a directory of its own, so a
# source file can include exactly the layers that its target links: `#include "store/reader.h"` in src/proc does not compile.

add_library(memoir_options INTERFACE)
target_compile_options(memoir_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor
  -Woverloaded-virtual -Wformat=2)
if(CMAKE_UNITY_BUILD)
  # GCC takes a source file that another includes for a header; and what it inlines more of, for uninitialised.
  target_compile_options(memoir_options INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage;-Wno-maybe-uninitialized>)
endif()
if(MEMOIR_SANITIZE)
  list(JOIN MEMOIR_SANITIZE "," sanitizers)
  target_compile_options(memoir_options INTERFACE -fsanitize=${sanitizers} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(memoir_options INTERFACE -fsanitize=${sanitizers})
  # GCC's flow warning misfires on instrumented code.
  target_compile_options(memoir_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  if("thread" IN_LIST MEMOIR_SANITIZE)
    # The thread sanitizer does not see the fences of Asio, which one thread alone runs.
    target_compile_options(memoir_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
  endif()
endif()

# memoir_layer(NAME SOURCES … LINKS other layers … PRIVATE external targets …)
function(memoir_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;PRIVATE" ${ARGN})
  set(headers ${CMAKE_BINARY_DIR}/layers/${name})
  file(MAKE_DIRECTORY ${headers})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${headers}/${name} SYMBOLIC)
  add_library(memoir_${name} STATIC ${ARG_SOURCES})
  target_include_directories(memoir_${name} PUBLIC ${headers})
  foreach(layer IN LISTS ARG_LINKS)
    target_link_libraries(memoir_${name} PUBLIC memoir_${layer})
  endforeach()
  target_link_libraries(memoir_${name} PRIVATE memoir_options ${ARG_PRIVATE})
endfunction()
