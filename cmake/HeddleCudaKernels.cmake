# The dense kernels in CUDA C++: machine code for each family of devices, and PTX of the newest for those to come, which
# image.c takes as bytes. Every nvcc from 11.8 to 13 knows these families. With a sanitizer, which does not look at
# device code, there is only PTX of the oldest, which all devices understand.
set(image "${CMAKE_CURRENT_BINARY_DIR}/dense_kernels.fatbin")
set(kernels "${CMAKE_CURRENT_SOURCE_DIR}/apps/dense/cuda/kernels.cu")
set(families -gencode arch=compute_90,code=compute_90)
foreach(family 75 80 86 90)
	list(APPEND families -gencode arch=compute_${family},code=sm_${family})
endforeach()
if(HEDDLE_SANITIZE)
	set(families -gencode arch=compute_75,code=compute_75)
endif()
add_custom_command(OUTPUT "${image}"
	COMMAND "${HEDDLE_NVCC}" -std=c++14 ${families} --fatbin -o "${image}" "${kernels}"
	DEPENDS "${kernels}" apps/dense/cuda/kernels.h apps/dense/cuda/shapes.h apps/dense/hash.h
	COMMENT "Compiling kernels for CUDA devices" VERBATIM)
set_property(SOURCE apps/dense/cuda/image.c PROPERTY OBJECT_DEPENDS "${image}")
set_property(SOURCE apps/dense/cuda/image.c PROPERTY COMPILE_DEFINITIONS HEDDLE_CUDA_IMAGE="${image}")
