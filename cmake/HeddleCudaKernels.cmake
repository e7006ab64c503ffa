# heddle_cuda_kernels(NAME KERNELS SOURCE DEPENDS...): compiles kernels in CUDA C++ into NAME.fatbin, which SOURCE takes
# as bytes, by the definition HEDDLE_CUDA_IMAGE: machine code for each family of devices, and PTX of the newest for
# those to come. Every nvcc from 11.8 to 13 knows these families. With a sanitizer, which does not look at device code,
# there is only PTX of the oldest, which all devices understand.
function(heddle_cuda_kernels name kernels source)
	set(image "${CMAKE_CURRENT_BINARY_DIR}/${name}.fatbin")
	set(kernels "${CMAKE_CURRENT_SOURCE_DIR}/${kernels}")
	set(families -gencode arch=compute_90,code=compute_90)
	foreach(family 75 80 86 90)
		list(APPEND families -gencode arch=compute_${family},code=sm_${family})
	endforeach()
	if(HEDDLE_SANITIZE)
		set(families -gencode arch=compute_75,code=compute_75)
	endif()
	add_custom_command(OUTPUT "${image}"
		COMMAND "${HEDDLE_NVCC}" -std=c++14 ${families} --fatbin -o "${image}" "${kernels}"
		DEPENDS "${kernels}" ${ARGN}
		COMMENT "Compiling ${name} for CUDA devices" VERBATIM)
	set_property(SOURCE ${source} PROPERTY OBJECT_DEPENDS "${image}")
	set_property(SOURCE ${source} PROPERTY COMPILE_DEFINITIONS HEDDLE_CUDA_IMAGE="${image}")
endfunction()
