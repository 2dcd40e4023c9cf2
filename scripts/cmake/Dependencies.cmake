# Finds every library Exemplar uses. `scripts/setup` installs them on Debian 12.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Clones in different folders share what they compile.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
                                  CCACHE_SLOPPINESS=pch_defines,time_macros
                                  ${CCACHE_PROGRAM})
endif()

find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(TBB REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(Ceres 2.1 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(BULLET REQUIRED IMPORTED_TARGET bullet-float64)
pkg_check_modules(DEFLATE REQUIRED IMPORTED_TARGET libdeflate)
pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
find_package(VTK 9.1 REQUIRED COMPONENTS CommonDataModel FiltersCore FiltersGeneral FiltersSources
             IOGeometry IOPLY IOXML IOLegacy IOImage RenderingCore RenderingOpenGL2 RenderingFreeType)

find_library(TETGEN_LIBRARY tet REQUIRED)
find_library(CHOLMOD_LIBRARY cholmod REQUIRED)
find_library(VOROPP_LIBRARY voro++ REQUIRED)
find_library(OPENBLAS_LIBRARY openblas REQUIRED)
find_path(CHOLMOD_INCLUDE_DIR cholmod.h PATH_SUFFIXES suitesparse REQUIRED)

# Ceres names the BLAS it was packaged with (ATLAS), which would come before OpenBLAS and do CHOLMOD's products too, at
# a third of the speed.
get_target_property(ceres_links Ceres::ceres INTERFACE_LINK_LIBRARIES)
list(FILTER ceres_links EXCLUDE REGEX "/lib(atlas|f77blas|blas|lapack)[.]")
set_target_properties(Ceres::ceres PROPERTIES INTERFACE_LINK_LIBRARIES "${ceres_links};${OPENBLAS_LIBRARY}")

# libigl is header-only: a target, a package, LIBIGL_INCLUDE_DIR, or what scripts/setup put into .deps/libigl.
if(NOT TARGET igl::core)
  find_package(libigl QUIET)
endif()
if(NOT TARGET igl::core)
  if(NOT LIBIGL_INCLUDE_DIR)
    set(LIBIGL_INCLUDE_DIR ${CMAKE_SOURCE_DIR}/.deps/libigl CACHE PATH "Folder that holds igl/igl_inline.h" FORCE)
  endif()
  if(NOT EXISTS ${LIBIGL_INCLUDE_DIR}/igl/igl_inline.h)
    message(FATAL_ERROR "libigl was not found. Run scripts/setup, or set LIBIGL_INCLUDE_DIR to the folder that "
                        "holds igl/igl_inline.h.")
  endif()
  add_library(igl_core INTERFACE)
  add_library(igl::core ALIAS igl_core)
  target_include_directories(igl_core SYSTEM INTERFACE ${LIBIGL_INCLUDE_DIR})
  target_link_libraries(igl_core INTERFACE Eigen3::Eigen Threads::Threads)
endif()

if(EXEMPLAR_TESTS)
  find_package(GTest REQUIRED)
endif()
