cmake_minimum_required(VERSION 3.25)

# Libraries of the system are on every compiler's path, so an include of theirs is looked for in the text.
function(only_in folder pattern)
  file(GLOB_RECURSE sources RELATIVE ${SOURCE}
    ${SOURCE}/src/*.h ${SOURCE}/src/*.cpp ${SOURCE}/query/*.h ${SOURCE}/query/*.cpp ${SOURCE}/recorder/*.h
    ${SOURCE}/recorder/*.cpp)
  list(LENGTH sources count)
  if(count LESS 100)
    message(FATAL_ERROR "only ${count} source files were found")
  endif()
  foreach(source IN LISTS sources)
    if(source MATCHES "^${folder}/")
      continue()
    endif()
    file(STRINGS ${SOURCE}/${source} lines REGEX "^#include .*(${pattern})")
    if(lines)
      message(SEND_ERROR "${source}: ${lines}")
    endif()
  endforeach()
endfunction()

only_in(recorder "asio")
only_in(src/store "SQLiteCpp|sqlite3")
