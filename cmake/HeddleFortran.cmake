# The Fortran modules heddle and heddle_dense: made of the headers in build/fortran/, and installed as source beside the
# headers, because what a Fortran compiler makes of a module is for this compiler only.
if(NOT HEDDLE_PYTHON_FOUND)
	message(STATUS "Fortran: left out, because no python3 with cffi was found, which makes the modules of the "
		"headers (Debian: apt-get install python3-cffi python3-numpy)")
	return()
endif()
set(HEDDLE_FORTRAN_MODULES "${PROJECT_BINARY_DIR}/fortran/heddle.f90" "${PROJECT_BINARY_DIR}/fortran/heddle_dense.f90")
set(fortran_sources scripts/fortran.py python/generate.py apps/dense/include/heddle/dense.h)
list(TRANSFORM fortran_sources PREPEND "${PROJECT_SOURCE_DIR}/")
add_custom_command(OUTPUT ${HEDDLE_FORTRAN_MODULES} DEPENDS ${fortran_sources} ${python_headers} VERBATIM
	COMMAND "${HEDDLE_PYTHON_FOUND}" "${PROJECT_SOURCE_DIR}/scripts/fortran.py" "${PROJECT_BINARY_DIR}/fortran"
	COMMENT "Generating the Fortran modules")
add_custom_target(heddle_fortran ALL DEPENDS ${HEDDLE_FORTRAN_MODULES})
install(FILES ${HEDDLE_FORTRAN_MODULES} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)

if(HEDDLE_DEVELOPER)
	find_program(HEDDLE_GFORTRAN gfortran)
	if(NOT HEDDLE_GFORTRAN)
		message(STATUS "Fortran: its example and tests are left out, because gfortran was not found (Debian: "
			"apt-get install gfortran)")
	endif()
endif()
