cmake_minimum_required(VERSION 3.25)

# Every folder of the product that has source files is a room: a target with a purpose in a line at the head of its
# CMakeLists. None has over forty of them, and none of those has over 400 lines.

file(STRINGS ${TARGETS} targets)
set(rooms "")
foreach(line IN LISTS targets)
  string(REPLACE "|" ";" words "${line}")
  list(GET words 1 folder)
  list(APPEND rooms ${folder})
endforeach()

file(GLOB_RECURSE sources RELATIVE ${SOURCE}
  ${SOURCE}/src/*.h ${SOURCE}/src/*.cpp ${SOURCE}/query/*.h ${SOURCE}/query/*.cpp ${SOURCE}/recorder/*.h
  ${SOURCE}/recorder/*.cpp)
set(folders "")
foreach(source IN LISTS sources)
  cmake_path(GET source PARENT_PATH folder)
  list(APPEND folders ${folder})
  file(READ ${SOURCE}/${source} text)
  string(REGEX REPLACE "[^\n]+" "" newlines "${text}")
  string(LENGTH "${newlines}" length)
  if(length GREATER 400)
    message(SEND_ERROR "${source} has ${length} lines")
  endif()
endforeach()

list(REMOVE_DUPLICATES folders)
foreach(folder IN LISTS folders)
  file(GLOB files ${SOURCE}/${folder}/*.h ${SOURCE}/${folder}/*.cpp)
  list(LENGTH files count)
  if(count GREATER 40)
    message(SEND_ERROR "${folder} has ${count} source files")
  endif()
  if(NOT folder IN_LIST rooms)
    message(SEND_ERROR "${folder} is no target of memoir_layer()")
  endif()
  file(STRINGS ${SOURCE}/${folder}/CMakeLists.txt head LIMIT_COUNT 1)
  if(NOT head MATCHES "^# .")
    message(SEND_ERROR "${folder}/CMakeLists.txt does not begin with the folder's purpose")
  endif()
endforeach()
