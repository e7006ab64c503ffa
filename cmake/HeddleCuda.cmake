# Compiling device code in CUDA C++ for tests and benches.

# heddle_cuda_image(TARGET SOURCE): compiles device code in CUDA C++ into a fatbin, once for all targets that want it.
# TARGET gets the name of the file as the definition HEDDLE_CUDA_IMAGE, or none where nvcc is missing.
#
# The fatbin has PTX alone, of the oldest family that every nvcc from 11.8 on knows, which all newer devices understand:
# machine code for each family takes four times as long to compile, and most machines that compile it have no device.
function(heddle_cuda_image target source)
	if(NOT HEDDLE_NVCC)
		return()
	endif()
	get_filename_component(source "${source}" ABSOLUTE)
	get_filename_component(name "${source}" NAME_WE)
	set(image "${CMAKE_CURRENT_BINARY_DIR}/${name}.fatbin")
	if(NOT TARGET cuda_image_${name})
		add_custom_command(OUTPUT "${image}" DEPENDS "${source}" VERBATIM
			COMMAND "${HEDDLE_NVCC}" -std=c++14 -gencode arch=compute_75,code=compute_75 --fatbin
				-I "${PROJECT_SOURCE_DIR}/include" -o "${image}" "${source}"
			COMMENT "Compiling ${name} for CUDA devices")
		add_custom_target(cuda_image_${name} DEPENDS "${image}")
	endif()
	add_dependencies(${target} cuda_image_${name})
	target_compile_definitions(${target} PRIVATE HEDDLE_CUDA_IMAGE="${image}")
endfunction()
