# The Python package `heddle` (python/), where a Python with cffi and numpy is found. It is put together in
# build/python/, for PYTHONPATH, from links to the sources and what is generated, and installed where Debian's python3
# looks if the prefix is one of its own.

set(HEDDLE_PYTHON "" CACHE FILEPATH
	"the Python for the package heddle, which needs cffi and numpy; empty: look for one")
set(HEDDLE_PYTHON_DIR "" CACHE STRING "where the package heddle is installed, below the prefix; empty: as Debian does")

# The first Python that has what is needed: the one that was named, the one on the PATH, the system's own.
function(heddle_find_python out)
	find_program(HEDDLE_PYTHON_ON_PATH python3)
	mark_as_advanced(HEDDLE_PYTHON_ON_PATH)
	set(candidates "${HEDDLE_PYTHON}")
	if(NOT HEDDLE_PYTHON)
		set(candidates "${HEDDLE_PYTHON_ON_PATH}" /usr/bin/python3)
	endif()
	foreach(python ${candidates})
		execute_process(COMMAND "${python}" -c "import cffi, numpy"
			RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
		if(NOT failed)
			set(${out} "${python}" PARENT_SCOPE)
			return()
		endif()
	endforeach()
	set(${out} "" PARENT_SCOPE)
endfunction()

heddle_find_python(HEDDLE_PYTHON_FOUND)
set(HEDDLE_PYTHON_FOUND "${HEDDLE_PYTHON_FOUND}" CACHE INTERNAL "the Python of the package heddle; empty: none")
if(NOT HEDDLE_PYTHON_FOUND)
	message(STATUS "Python: left out, because no python3 with cffi and numpy was found (Debian: apt-get install "
		"python3-cffi python3-numpy; another Python: -DHEDDLE_PYTHON=...)")
	return()
endif()
execute_process(COMMAND "${HEDDLE_PYTHON_FOUND}" -c "import sys; print('%d.%d' % sys.version_info[:2])"
	OUTPUT_VARIABLE python_version OUTPUT_STRIP_TRAILING_WHITESPACE)

# Debian's python3 looks into dist-packages of /usr/local and of /usr; elsewhere PYTHONPATH is needed.
set(python_directory "${HEDDLE_PYTHON_DIR}")
if(NOT python_directory AND CMAKE_INSTALL_PREFIX STREQUAL "/usr")
	set(python_directory lib/python3/dist-packages)
elseif(NOT python_directory AND EXISTS /etc/debian_version)
	set(python_directory lib/python${python_version}/dist-packages)
elseif(NOT python_directory)
	set(python_directory lib/python${python_version}/site-packages)
endif()
message(STATUS "Python: built in, with ${HEDDLE_PYTHON_FOUND} (${python_version}); installed in "
	"${CMAKE_INSTALL_PREFIX}/${python_directory}")

set(python_sources "${CMAKE_CURRENT_SOURCE_DIR}/python")
set(python_package "${CMAKE_CURRENT_BINARY_DIR}/python/heddle")
file(GLOB HEDDLE_PYTHON_SOURCES CONFIGURE_DEPENDS python/heddle/*.py python/heddle/py.typed)
list(FILTER HEDDLE_PYTHON_SOURCES EXCLUDE REGEX "/_(ffi|sparse_ffi|fmm_ffi|location)\\.py$") # of another build: pip's
# What is linked and no longer a source goes. What was generated stays: not every target makes it anew.
file(GLOB python_links "${python_package}/*")
list(FILTER python_links EXCLUDE REGEX "/_(ffi|sparse_ffi|fmm_ffi)\\.py$")
if(python_links)
	file(REMOVE_RECURSE ${python_links})
endif()
file(MAKE_DIRECTORY "${python_package}")
foreach(source ${HEDDLE_PYTHON_SOURCES})
	get_filename_component(name "${source}" NAME)
	file(CREATE_LINK "${source}" "${python_package}/${name}" SYMBOLIC)
endforeach()

# _location.py: where the library is, seen from the package; one for the build, one for the installation.
function(heddle_python_location file library)
	file(WRITE "${file}" "LIBRARY = \"${library}\"\nVERSION = \"${PROJECT_VERSION}\"\n")
endfunction()
heddle_python_location("${python_package}/_location.py" ../../libheddle.so)
file(RELATIVE_PATH python_library "${CMAKE_INSTALL_PREFIX}/${python_directory}/heddle" "${CMAKE_INSTALL_FULL_LIBDIR}")
heddle_python_location("${CMAKE_CURRENT_BINARY_DIR}/python/installed/_location.py" "${python_library}/libheddle.so.0")

# _ffi.py, _sparse_ffi.py and _fmm_ffi.py: the C interface, from the headers.
file(GLOB python_headers CONFIGURE_DEPENDS include/heddle/*.h apps/dense/include/heddle/*.h
	apps/sparse/include/heddle/*.h apps/fmm/include/heddle/*.h)
set(python_made "${python_package}/_ffi.py" "${python_package}/_sparse_ffi.py" "${python_package}/_fmm_ffi.py")
add_custom_command(OUTPUT ${python_made}
	COMMAND "${HEDDLE_PYTHON_FOUND}" "${python_sources}/generate.py" "${CMAKE_CURRENT_SOURCE_DIR}/include"
		"${python_package}/_ffi.py"
	DEPENDS "${python_sources}/generate.py" ${python_headers}
	COMMENT "Generating python/heddle/_ffi.py")
add_custom_target(heddle_python ALL DEPENDS "${python_package}/_ffi.py")
add_dependencies(heddle_python heddle heddle_fmm_shared)
if(HEDDLE_SPARSE)
	add_dependencies(heddle_python heddle_sparse_shared)
endif()

install(FILES ${HEDDLE_PYTHON_SOURCES} ${python_made}
	"${CMAKE_CURRENT_BINARY_DIR}/python/installed/_location.py" DESTINATION "${python_directory}/heddle"
	COMPONENT python)
install(CODE "message(\"Python: for ${HEDDLE_PYTHON_FOUND}, which has cffi and numpy; if it does not find heddle, set \
PYTHONPATH=\${CMAKE_INSTALL_PREFIX}/${python_directory}\")")
