# Debian packages, by `make deb`, or cpack in a build folder whose prefix is then theirs, too:
#
#   libheddle0         component library   the shared libraries; its number is their SOVERSION
#   libheddle-report0  component report    charts and bounds, which libheddle0 loads when they are asked for
#   libheddle-sparse0  component sparse    sparse QR, if the build has it
#   libheddle-mpi0     component mpi       several machines, if the build has it
#   libheddle-common   component common    platforms, which do not depend on the architecture
#   libheddle-dev      component dev       headers, static libraries, what finds them, documents, examples
#   heddle             component command   the command, its manual page, completion for shells
#   python3-heddle     component python    the Python package, if the build has it
#
# What a component installs is said where it is installed: HeddleInstall.cmake, HeddlePython.cmake. `make install`
# installs all of them.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME heddle)
set(CPACK_PACKAGE_CONTACT "The Heddle authors")
set(CPACK_PACKAGING_INSTALL_PREFIX "${CMAKE_INSTALL_PREFIX}")
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL library report common dev command)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)

# Libraries that the files of a package need are found by dpkg-shlibdeps; those of Heddle lie in the build folder.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")

# heddle_package(COMPONENT NAME SECTION DEPENDS SUMMARY DESCRIPTION)
macro(heddle_package component name section depends summary description)
	string(TOUPPER ${component} key)
	set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name})
	set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${section})
	set(CPACK_DEBIAN_${key}_PACKAGE_DEPENDS "${depends}")
	set(CPACK_DEBIAN_${key}_DESCRIPTION "${summary} ${description}")
	install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} RENAME copyright
	        COMPONENT ${component} EXCLUDE_FROM_ALL)
endmacro()

get_target_property(soversion heddle SOVERSION)
set(library libheddle${soversion})
set(same "(= ${PROJECT_VERSION})")
heddle_package(library ${library} libs "libheddle-common ${same}" "The shared libraries."
	"Programs that were linked with Heddle need them.")
heddle_package(report libheddle-report${soversion} libs "${library} ${same}" "Charts and bounds."
	"The runtime loads it when a program asks for a chart, the picture of a task graph or lower bounds.")
heddle_package(common libheddle-common libs "" "Descriptions of machines."
	"The platforms on which Heddle simulates task graphs without more being said than a name.")
heddle_package(dev libheddle-dev libdevel "${library} ${same}" "Headers, static libraries, documents, examples."
	"For C, C++ and Fortran; by pkg-config, or find_package(Heddle) in CMake.")
heddle_package(command heddle science "libheddle-common ${same}" "The command."
	"It runs, simulates, compares, bounds and draws task graphs.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS libheddle-report${soversion}) # a node that only computes can do without
set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS ${library}) # for plug-ins
set(CPACK_DEBIAN_COMMON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "pkg-config, cmake, libhwloc-dev, libyaml-dev, libcairo2-dev, libjansson-dev, \
coinor-libclp-dev, liblapacke-dev, libopenblas-dev, libsuitesparse-dev")

if(HEDDLE_SPARSE)
	list(APPEND CPACK_COMPONENTS_ALL sparse)
	heddle_package(sparse libheddle-sparse${soversion} libs "${library} ${same}" "Sparse QR factorisation."
		"Least squares and solutions of least norm with sparse matrices. It needs CHOLMOD.")
	set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS libheddle-sparse${soversion})
endif()

if(HEDDLE_MPI)
	list(APPEND CPACK_COMPONENTS_ALL mpi)
	heddle_package(mpi libheddle-mpi${soversion} libs "${library} ${same}" "Tasks on several machines."
		"One program runs on all ranks of MPI, and data go where tasks need them.")
endif()

if(HEDDLE_PYTHON_FOUND)
	list(APPEND CPACK_COMPONENTS_ALL python)
	heddle_package(python python3-heddle python
		"python3, python3-cffi-backend, python3-numpy, ${library} ${same}" "The Python package."
		"Tasks and data of Heddle in Python, with arrays of numpy.")
	set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
	if(HEDDLE_SPARSE)
		set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "libheddle-sparse${soversion}, python3-scipy") # heddle.sparse
	endif()
	# as Debian's packages do it
	set(scripts "${PROJECT_BINARY_DIR}/packages/python")
	file(CONFIGURE OUTPUT "${scripts}/postinst" @ONLY CONTENT [[#!/bin/sh
set -e
! command -v py3compile >/dev/null || py3compile -p python3-heddle
]])
	file(CONFIGURE OUTPUT "${scripts}/prerm" @ONLY CONTENT [[#!/bin/sh
set -e
! command -v py3clean >/dev/null || py3clean -p python3-heddle
]])
	set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA "${scripts}/postinst;${scripts}/prerm")
	set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_STRICT_PERMISSION ON)
endif()
include(CPack)
