# schema/*.sql become string constants: schema/queries/marks.sql is sql::marks, schema/views.sql is sql::views, and the
# migrations are sql::migrations in the order of their numbers. Lists in C++ fill in their `@name@` (schema_text.h).
file(GLOB migrations CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/schema/0*.sql)
file(GLOB queries CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/schema/views.sql ${CMAKE_SOURCE_DIR}/schema/queries/*.sql)
list(SORT migrations)
set(generated ${CMAKE_BINARY_DIR}/generated/store_sqlite)
file(MAKE_DIRECTORY ${generated}/store/schema)
set(constants ${generated}/store/schema/sql.h)
add_executable(memoir_make_sql schema/make_sql.cpp schema/schema_text.cpp)
target_include_directories(memoir_make_sql PRIVATE ${CMAKE_SOURCE_DIR}/src)
target_link_libraries(memoir_make_sql PRIVATE memoir_options memoir_store_types fmt::fmt)
add_custom_command(OUTPUT ${constants}
  COMMAND memoir_make_sql ${queries} [migrations ${migrations} > ${constants}
  DEPENDS memoir_make_sql ${queries} ${migrations} VERBATIM)

# The same schema, as SQLite stores it.
set(objects ${generated}/store/schema/schema_objects.h)
add_executable(memoir_list_schema schema/list_schema.cpp ${constants})
target_include_directories(memoir_list_schema PRIVATE ${generated})
target_link_libraries(memoir_list_schema PRIVATE memoir_options PkgConfig::SQLITE3)
add_custom_command(OUTPUT ${objects} COMMAND memoir_list_schema > ${objects} DEPENDS memoir_list_schema VERBATIM)
