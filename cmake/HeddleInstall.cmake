# What is installed: library, headers, command, platforms, documents, and the files by which other builds find it. The
# components are those of HeddlePackages.cmake.
include(CMakePackageConfigHelpers)

install(TARGETS heddle heddle_dense_shared heddle_fmm_shared heddle_daggen_shared heddle_starpu_shared
        EXPORT HeddleTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT dev)
if(HEDDLE_SPARSE)
	install(TARGETS heddle_sparse_shared EXPORT HeddleTargets
	        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT sparse NAMELINK_COMPONENT dev)
	install(TARGETS heddle_sparse ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
	install(DIRECTORY apps/sparse/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev
	        FILES_MATCHING PATTERN "*.h")
endif()
if(HEDDLE_MPI)
	install(TARGETS heddle_mpi_shared EXPORT HeddleTargets
	        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mpi NAMELINK_COMPONENT dev)
	install(TARGETS heddle_mpi ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
	install(DIRECTORY mpi/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev
	        FILES_MATCHING PATTERN "*.h")
endif()
# No program is linked with it: libheddle.so loads it, from where it lies itself.
install(TARGETS heddle_report
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT report NAMELINK_SKIP)
install(TARGETS heddle_internal heddle_dense heddle_fmm heddle_daggen
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
if(TARGET heddle_command)
	install(TARGETS heddle_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
	install(FILES docs/heddle.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
	install(FILES tools/completion/heddle.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
	        RENAME heddle COMPONENT command)
	# where Debian's zsh looks for what its packages install
	set(zsh_folder site-functions)
	if(CMAKE_INSTALL_PREFIX STREQUAL "/usr" AND EXISTS /etc/debian_version)
		set(zsh_folder vendor-completions)
	endif()
	install(FILES tools/completion/_heddle DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${zsh_folder} COMPONENT command)
endif()
# gdb loads it with the library, whose real name it bears, if it trusts the directory.
install(FILES scripts/heddle-gdb.py DESTINATION ${CMAKE_INSTALL_LIBDIR} RENAME libheddle.so.${PROJECT_VERSION}-gdb.py
        COMPONENT dev)
install(DIRECTORY include/ apps/dense/include/ apps/fmm/include/ research/daggen/include/
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(DIRECTORY starpu/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heddle-starpu COMPONENT dev
        FILES_MATCHING PATTERN "*.h")
# What a policy in a plug-in may be made of, too: headers, and the source that goes with each.
set(parts src/policies/parts)
install(FILES ${parts}/queue.h ${parts}/queue.c ${parts}/heap.h ${parts}/heap.c
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heddle/parts COMPONENT dev)
install(DIRECTORY platforms/ DESTINATION ${CMAKE_INSTALL_DATADIR}/heddle/platforms COMPONENT common
        FILES_MATCHING PATTERN "*.yaml")

# Documents lie to one another as in the source, so that their links work; only the headers are somewhere else.
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT dev
        FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN "*.c" PATTERN "*.cu" PATTERN "*.cpp" PATTERN "*.py"
        PATTERN "*.f90")
install(FILES LICENSE CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT dev)
install(FILES bench/RESULTS.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench COMPONENT dev)
file(RELATIVE_PATH headers "${CMAKE_INSTALL_FULL_DOCDIR}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS README.md)
file(READ README.md readme)
string(REPLACE "](include/" "](${headers}/" readme "${readme}")
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/README.md" "${readme}")
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/README.md" DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT dev)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Heddle)
install(EXPORT HeddleTargets NAMESPACE Heddle:: DESTINATION ${package_dir} COMPONENT dev)
configure_package_config_file(cmake/HeddleConfig.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/HeddleConfig.cmake"
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/HeddleConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/HeddleConfig.cmake" "${CMAKE_CURRENT_BINARY_DIR}/HeddleConfigVersion.cmake"
        DESTINATION ${package_dir} COMPONENT dev)

# The prefix is where the .pc file is, so that a tree can be installed in any folder, and moved. Absolute paths, unless
# the prefix is a part of them.
file(RELATIVE_PATH HEDDLE_PC_PREFIX "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" HEDDLE_PC_PREFIX "${HEDDLE_PC_PREFIX}")
set(HEDDLE_PC_LIBDIR "${CMAKE_INSTALL_FULL_LIBDIR}")
set(HEDDLE_PC_INCLUDEDIR "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
	set(HEDDLE_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
	set(HEDDLE_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
# What programs also need that are linked with the static libraries. Libraries, and no packages of pkg-config: these
# would have to be there for all others, too.
# Those for charts and bounds come first: a program may leave them out.
list(TRANSFORM CLP_LIBRARY_DIRS PREPEND -L OUTPUT_VARIABLE clp_folders)
set(libraries -Wl,-u,hd_report ${CAIRO_LDFLAGS} ${clp_folders} -lClp -lstdc++
	${HWLOC_LDFLAGS} ${YAML_LDFLAGS} ${JANSSON_LDFLAGS} -pthread -ldl -lm)
set(dense_libraries ${LAPACKE_LDFLAGS} ${OPENBLAS_LDFLAGS} -lm)
list(FILTER libraries EXCLUDE REGEX "^-L/usr/lib")
list(FILTER dense_libraries EXCLUDE REGEX "^-L/usr/lib")
string(JOIN " " HEDDLE_PC_PRIVATE ${libraries})
string(JOIN " " HEDDLE_PC_PRIVATE_DENSE ${dense_libraries})
set(modules heddle heddle-dense heddle-fmm heddle-daggen heddle-starpu)
if(HEDDLE_SPARSE)
	get_filename_component(folder "${CHOLMOD_LIBRARY}" DIRECTORY)
	set(sparse_libraries -L${folder} -lcholmod -lm)
	list(FILTER sparse_libraries EXCLUDE REGEX "^-L/usr/lib")
	string(JOIN " " HEDDLE_PC_PRIVATE_SPARSE ${sparse_libraries})
	list(APPEND modules heddle-sparse)
endif()
if(HEDDLE_MPI) # whose programs call MPI themselves
	list(TRANSFORM MPI_C_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE mpi_headers)
	string(JOIN " " HEDDLE_PC_MPI_CFLAGS ${mpi_headers} ${MPI_C_COMPILE_OPTIONS})
	string(JOIN " " HEDDLE_PC_MPI_LIBS ${MPI_C_LIBRARIES})
	list(APPEND modules heddle-mpi)
endif()
foreach(module ${modules})
	configure_file(cmake/${module}.pc.in "${CMAKE_CURRENT_BINARY_DIR}/${module}.pc" @ONLY)
	install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${module}.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
	        COMPONENT dev)
endforeach()

install(SCRIPT cmake/LinkerCache.cmake)
# Elsewhere neither shells nor compilers nor the loader look.
install(CODE "if(\"\$ENV{DESTDIR}\" STREQUAL \"\" AND NOT CMAKE_INSTALL_PREFIX MATCHES \"^/usr(/local)?/?\$\")
	message(\"In each shell: export PATH=\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}:\\$PATH \
PKG_CONFIG_PATH=\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig \
LD_LIBRARY_PATH=\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}\")
endif()")
