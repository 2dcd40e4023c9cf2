# exemplar_library(NAME DIR <dir> LINK <public...> PRIVATE <private...>): a static library of every .cpp below DIR.
# Every target sees the whole tree as include path; that dependencies point one way is checked by
# scripts/check-includes, which is a test.
add_library(exemplar_flags INTERFACE)
target_include_directories(exemplar_flags INTERFACE ${CMAKE_SOURCE_DIR})
target_link_libraries(exemplar_flags INTERFACE fmt::fmt)
target_compile_options(exemplar_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
                                                -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 warns wrongly about string concatenation and moved strings (GCC bugs 105651, 105329).
  target_compile_options(exemplar_flags INTERFACE -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow
                                                  -Wno-stringop-overread)
endif()
if(EXEMPLAR_WERROR)
  target_compile_options(exemplar_flags INTERFACE -Werror)
endif()
if(CMAKE_UNITY_BUILD)
  # Sources that are included in a unity file look like headers with anonymous namespaces to GCC.
  target_compile_options(exemplar_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
if(EXEMPLAR_ARCH AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(exemplar_flags INTERFACE -march=${EXEMPLAR_ARCH})
endif()
if(EXEMPLAR_SANITIZE)
  target_compile_options(exemplar_flags INTERFACE -fsanitize=${EXEMPLAR_SANITIZE} -fno-omit-frame-pointer
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)  # false ones of inlining that sanitizers change
  target_link_options(exemplar_flags INTERFACE -fsanitize=${EXEMPLAR_SANITIZE})
endif()

# In a unity build the targets of EXEMPLAR_FILE_BY_FILE are compiled file by file: the quickest for a target that is
# being worked on while all others come from unity files.
function(exemplar_unity target)
  if(${target} IN_LIST EXEMPLAR_FILE_BY_FILE)
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  endif()
endfunction()

# Reading Eigen and the standard library takes three quarters of a file's compile time: they are precompiled once, with
# core_base, and all targets use that (tests another one with GoogleTest in it). All are compiled with the same flags
# for this to work, fmt's among them.
function(exemplar_precompile target)
  if(NOT EXEMPLAR_PCH)
    return()
  endif()
  cmake_parse_arguments(ARG "" "REUSE" "HEADERS" ${ARGN})
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)  # for ccache
  if(ARG_HEADERS)
    target_precompile_headers(${target} PRIVATE ${ARG_HEADERS})
  elseif(ARG_REUSE)
    target_precompile_headers(${target} REUSE_FROM ${ARG_REUSE})
  else()
    target_precompile_headers(${target} REUSE_FROM core_base)
  endif()
endfunction()

function(exemplar_library name)
  cmake_parse_arguments(ARG "" "DIR" "LINK;PRIVATE;SYSTEM_INCLUDE;PRECOMPILE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${ARG_DIR}/*.cpp)
  if(NOT sources)
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE exemplar_flags ${ARG_LINK})
    return()
  endif()
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC exemplar_flags ${ARG_LINK} PRIVATE ${ARG_PRIVATE})
  exemplar_unity(${name})
  if(ARG_PRECOMPILE)
    exemplar_precompile(${name} HEADERS ${ARG_PRECOMPILE})
  else()
    exemplar_precompile(${name})
  endif()
  if(ARG_SYSTEM_INCLUDE)
    target_include_directories(${name} SYSTEM PRIVATE ${ARG_SYSTEM_INCLUDE})
  endif()
endfunction()

# A library with methods in it: when DIR holds a register.cpp, compare/ calls its register_<name>(Registry&).
function(exemplar_method name)
  exemplar_library(${name} ${ARGN})
  cmake_parse_arguments(ARG "" "DIR" "LINK;PRIVATE;SYSTEM_INCLUDE;PRECOMPILE" ${ARGN})
  get_filename_component(directory ${ARG_DIR} ABSOLUTE)
  if(EXISTS ${directory}/register.cpp)
    set_property(GLOBAL APPEND PROPERTY EXEMPLAR_METHODS ${name})
  endif()
endfunction()

# exemplar_inline_kernels(<source...>): GCC gives up inlining the 3×3 algebra of four elements at a time long before it is
# done, which costs half of the speed. Such sources are compiled on their own, outside unity files.
function(exemplar_inline_kernels)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR CMAKE_BUILD_TYPE STREQUAL "Debug")
    return()
  endif()
  set_source_files_properties(
    ${ARGN} PROPERTIES
    SKIP_UNITY_BUILD_INCLUSION ON
    SKIP_PRECOMPILE_HEADERS ON
    COMPILE_OPTIONS
      "-finline-limit=10000;--param=large-function-growth=3000;--param=large-stack-frame-growth=3000;--param=inline-unit-growth=500;--param=large-function-insns=20000;--param=max-inline-insns-auto=500")
endfunction()
