# What there is of CUDA to build with. Libraries are loaded at run time, so headers are enough, and each part is built
# for which there are some:
#
#   HEDDLE_CUDA_INCLUDE    the folders of cuda.h, of a version that is new enough; empty: no CUDA at all
#   HEDDLE_CUDA_DENSE      whether cuBLAS's and cuSOLVER's headers are there, too
#   HEDDLE_CUDA_LIBRARIES  the toolkit's folder of libraries, where they are looked for besides the usual places
#   HEDDLE_NVCC            an nvcc that works; empty: there is none
#
# CMake finds a toolkit by its nvcc, or its file of versions. Where there are only headers (Debian: nvidia-cuda-dev; one
# package of NVIDIA's has no more, either), cuda.h is looked for.
include(CheckCSourceCompiles)
set(HEDDLE_CUDA_INCLUDE "")
set(HEDDLE_CUDA_LIBRARIES "")
set(HEDDLE_CUDA_DENSE OFF)
set(HEDDLE_NVCC "")
set(folders "")

find_package(CUDAToolkit QUIET)
if(CUDAToolkit_FOUND)
	set(folders ${CUDAToolkit_INCLUDE_DIRS})
	set(HEDDLE_CUDA_LIBRARIES "${CUDAToolkit_LIBRARY_DIR}")
elseif(NOT CMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit)
	find_path(CUDA_HEADERS cuda.h HINTS "${CUDAToolkit_ROOT}" "$ENV{CUDAToolkit_ROOT}" "$ENV{CUDA_PATH}"
		PATHS /usr/local/cuda /opt/cuda PATH_SUFFIXES include targets/x86_64-linux/include)
	if(CUDA_HEADERS)
		set(folders "${CUDA_HEADERS}")
		get_filename_component(HEDDLE_CUDA_LIBRARIES "${CUDA_HEADERS}/../lib64" ABSOLUTE)
	endif()
endif()

# Whether a source compiles with these folders, which may be others than in the last configuration.
function(heddle_try_cuda source out)
	string(SHA1 key "${folders};${source}")
	string(SUBSTRING ${key} 0 12 key)
	set(CMAKE_REQUIRED_INCLUDES ${folders})
	set(CMAKE_REQUIRED_QUIET ON)
	check_c_source_compiles("${source}\nint main(void) { return 0; }" HEDDLE_TRIED_${key})
	set(${out} "${HEDDLE_TRIED_${key}}" PARENT_SCOPE)
endfunction()

if(folders)
	heddle_try_cuda("#include <cuda.h>\n#if CUDA_VERSION < 11080\n#error old\n#endif" works)
	if(works)
		set(HEDDLE_CUDA_INCLUDE ${folders})
		list(GET folders 0 first)
		message(STATUS "CUDA: built in, with the headers in ${first}")
	else()
		message(STATUS "CUDA: left out, because cuda.h is missing in ${folders}, or older than that of "
			"CUDA 11.8")
	endif()
elseif(CMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit)
	message(STATUS "CUDA: left out, because CMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit says so")
else()
	message(STATUS "CUDA: left out, because neither a toolkit nor cuda.h was found (put nvcc on the PATH, or "
		"name the folder by -DCUDAToolkit_ROOT=)")
endif()
if(NOT HEDDLE_CUDA_INCLUDE)
	return()
endif()

heddle_try_cuda("#include <cublas_v2.h>\n#include <cusolverDn.h>" HEDDLE_CUDA_DENSE)
if(NOT HEDDLE_CUDA_DENSE)
	message(STATUS "Dense kernels for CUDA: left out, because cublas_v2.h or cusolverDn.h, or what these need, is "
		"missing in ${HEDDLE_CUDA_INCLUDE} (install the development files of cuBLAS and cuSOLVER)")
endif()

# nvcc needs a C++ compiler of a version that it knows, and headers of its own, so it is tried once.
if(CUDAToolkit_NVCC_EXECUTABLE AND NOT HEDDLE_NVCC_TRIED STREQUAL CUDAToolkit_NVCC_EXECUTABLE)
	set(try "${PROJECT_BINARY_DIR}/nvcc_works.cu")
	file(WRITE "${try}" "__global__ void f(int *x) { *x = 1; }\nint main() { return 0; }\n")
	execute_process(COMMAND "${CUDAToolkit_NVCC_EXECUTABLE}" -std=c++14 -o "${try}.out" "${try}"
		RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
	string(REGEX REPLACE "\n.*" "" said "${said}")
	set(HEDDLE_NVCC_TRIED "${CUDAToolkit_NVCC_EXECUTABLE}" CACHE INTERNAL "the nvcc that was tried")
	set(HEDDLE_NVCC_SAID "" CACHE INTERNAL "why it does not work")
	if(failed)
		set(HEDDLE_NVCC_SAID "${said}" CACHE INTERNAL "why it does not work")
	endif()
endif()
if(NOT CUDAToolkit_NVCC_EXECUTABLE)
	message(STATUS "Device code of our own for CUDA: left out, because nvcc was not found")
elseif(HEDDLE_NVCC_SAID)
	message(STATUS "Device code of our own for CUDA: left out, because nvcc does not work (${HEDDLE_NVCC_SAID})")
else()
	set(HEDDLE_NVCC "${CUDAToolkit_NVCC_EXECUTABLE}")
endif()
