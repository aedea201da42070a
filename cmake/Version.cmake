# The commit goes into --version. It is read when CMake configures; a tarball without git has "unknown". A package sets
# its own version: -DMEMOIR_COMMIT=1.2-3
if(NOT DEFINED CACHE{MEMOIR_COMMIT})
  execute_process(COMMAND git -C ${CMAKE_SOURCE_DIR} describe --always --dirty --abbrev=10
    OUTPUT_VARIABLE MEMOIR_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE git_failed)
  if(git_failed OR NOT MEMOIR_COMMIT)
    set(MEMOIR_COMMIT "unknown")
  endif()
endif()
# CMake configures again after a new commit or checkout, so that the version is always current.
if(EXISTS ${CMAKE_SOURCE_DIR}/.git/logs/HEAD)
  set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/.git/logs/HEAD)
endif()
