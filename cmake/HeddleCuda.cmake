# Compiling device code in CUDA C++. HEDDLE_NVCC is an nvcc that works, or empty: it needs a C++ compiler of a version
# that it knows, so it is tried once.
set(HEDDLE_NVCC "")
if(CUDAToolkit_NVCC_EXECUTABLE AND NOT DEFINED HEDDLE_NVCC_WORKS)
	set(try "${PROJECT_BINARY_DIR}/nvcc_works.cu")
	file(WRITE "${try}" "__global__ void f(int *x) { *x = 1; }\nint main() { return 0; }\n")
	execute_process(COMMAND "${CUDAToolkit_NVCC_EXECUTABLE}" -std=c++14 -o "${try}.out" "${try}"
		RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
	if(failed)
		string(REGEX REPLACE "\n.*" "" said "${said}")
		message(STATUS "Device code of tests and examples: left out, because nvcc does not work (${said})")
		set(HEDDLE_NVCC_WORKS OFF CACHE INTERNAL "whether nvcc can compile")
	else()
		set(HEDDLE_NVCC_WORKS ON CACHE INTERNAL "whether nvcc can compile")
	endif()
endif()
if(HEDDLE_NVCC_WORKS)
	set(HEDDLE_NVCC "${CUDAToolkit_NVCC_EXECUTABLE}")
endif()

# heddle_cuda_image(TARGET SOURCE): compiles device code in CUDA C++ into a fatbin, once for all targets that want it.
# TARGET gets the name of the file as the definition HEDDLE_CUDA_IMAGE, or none where nvcc is missing.
#
# The fatbin has machine code for each major family of devices that nvcc knows, and PTX of the newest for those to come.
function(heddle_cuda_image target source)
	if(NOT HEDDLE_NVCC)
		return()
	endif()
	get_filename_component(source "${source}" ABSOLUTE)
	get_filename_component(name "${source}" NAME_WE)
	set(image "${CMAKE_CURRENT_BINARY_DIR}/${name}.fatbin")
	if(NOT TARGET cuda_image_${name})
		add_custom_command(OUTPUT "${image}" DEPENDS "${source}" VERBATIM
			COMMAND "${HEDDLE_NVCC}" -std=c++14 -arch=all-major --fatbin
				-I "${PROJECT_SOURCE_DIR}/include" -o "${image}" "${source}"
			COMMENT "Compiling ${name} for CUDA devices")
		add_custom_target(cuda_image_${name} DEPENDS "${image}")
	endif()
	add_dependencies(${target} cuda_image_${name})
	target_compile_definitions(${target} PRIVATE HEDDLE_CUDA_IMAGE="${image}")
endfunction()
