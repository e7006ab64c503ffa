# heddle_add_test(NAME LABELS label... COMMAND command... [TIMEOUT seconds] [ENVIRONMENT name=value...] [STANDIN])
#
# A test sees neither the user's settings nor another test's models nor, unless ENVIRONMENT says HEDDLE_CUDA=-1 or
# HEDDLE_OPENCL=-1 for instance, accelerators of the machine; its BLAS makes no threads, and it may take four times
# longer under a sanitizer. glibc fills what it allocates and frees with bytes that are not 0 (MALLOC_PERTURB_), so that
# memory that nobody has cleared is found out. All tests share what was compiled for OpenCL devices; PoCL, an OpenCL
# device that is the CPU, computes on two cores. With STANDIN, CUDA's driver is the one in tests/standin, unless
# HEDDLE_CUDA_TESTS says otherwise, and the test also has the label cuda. What may take longest is started first, so
# that the last ones are short and no core is idle in the end.
#
# intercept_tls_get_addr=0: AddressSanitizer up to clang 16 takes thread-local variables of a library that was loaded
# later, such as an OpenCL driver, for a block with a header of glibc 2.19 if their address ends with 0x010. The header
# is made up, and LeakSanitizer dies where it points to ("Tracer caught signal 11").
set(HEDDLE_CUDA_TESTS standin CACHE STRING
	"what the tests with the label cuda run on: standin (tests/standin), or real, the devices of this machine")
set(STANDIN_FOLDER "${PROJECT_BINARY_DIR}/standin")
set(HEDDLE_TEST_CACHE "${PROJECT_BINARY_DIR}/test-homes/cache" CACHE PATH
	"where tests keep what was compiled for OpenCL devices; builds may share it")
function(heddle_add_test name)
	cmake_parse_arguments(TEST "STANDIN" "TIMEOUT" "LABELS;COMMAND;ENVIRONMENT" ${ARGN})
	add_test(NAME ${name} COMMAND ${TEST_COMMAND})
	set(home "${PROJECT_BINARY_DIR}/test-homes/${name}")
	if(NOT TEST_TIMEOUT)
		set(TEST_TIMEOUT 60)
	endif()
	# A limit is for tests that hang, and machines may be busy: it is far above what a test takes on a quiet one.
	if(HEDDLE_SANITIZE)
		math(EXPR TEST_TIMEOUT "8 * ${TEST_TIMEOUT}")
	else()
		math(EXPR TEST_TIMEOUT "4 * ${TEST_TIMEOUT}")
	endif()
	if(TEST_STANDIN)
		list(APPEND TEST_LABELS cuda)
	endif()
	if(TEST_STANDIN AND NOT HEDDLE_CUDA_TESTS STREQUAL real)
		list(APPEND TEST_ENVIRONMENT "LD_LIBRARY_PATH=${STANDIN_FOLDER}:$ENV{LD_LIBRARY_PATH}")
	endif()
	set(sanitizers "${PROJECT_SOURCE_DIR}/tests/sanitizers")
	set(cache "${HEDDLE_TEST_CACHE}")
	file(MAKE_DIRECTORY "${cache}/pocl")
	set_tests_properties(${name} PROPERTIES LABELS "${TEST_LABELS}" TIMEOUT ${TEST_TIMEOUT} COST ${TEST_TIMEOUT}
		SKIP_RETURN_CODE 77
		ENVIRONMENT "XDG_DATA_HOME=${home}/data;XDG_CONFIG_HOME=${home}/config;OPENBLAS_NUM_THREADS=1;\
LC_ALL=C;MALLOC_PERTURB_=85;\
HEDDLE_CUDA=0;HEDDLE_OPENCL=0;XDG_CACHE_HOME=${cache};POCL_CACHE_DIR=${cache}/pocl;POCL_MAX_PTHREAD_COUNT=2;\
ASAN_OPTIONS=handle_sigill=2;UBSAN_OPTIONS=print_stacktrace=1;\
LSAN_OPTIONS=suppressions=${sanitizers}/leak.txt:print_suppressions=0:intercept_tls_get_addr=0;\
TSAN_OPTIONS=suppressions=${sanitizers}/thread.txt:print_suppressions=0:halt_on_error=1;${TEST_ENVIRONMENT}")
endfunction()

# heddle_add_mpi_test(NAME RANKS PROGRAM ARGUMENTS...): a program under mpirun, on ranks of one CPU worker each. Open
# MPI would refuse more ranks than cores, and root; its transport for fast networks (ucx, ofi) takes long where there is
# none. Not with sanitizers, which find faults of MPI's libraries: there ranks are threads (tests/unit/test_mpi.c).
function(heddle_add_mpi_test name ranks)
	if(HEDDLE_SANITIZE)
		return()
	endif()
	list(POP_FRONT ARGN program)
	heddle_add_test(${name} LABELS quick mpi
		COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:${program}> ${ARGN}
		ENVIRONMENT OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
			OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
			OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader HEDDLE_NCPU=1 HEDDLE_BIND=0)
endfunction()
