/* Macros for the templates of this folder, besides dense/kernels/precisions.h, for the precision LETTER. Included at
 * the beginning of each template; precision_end.h undefines the macros.
 *
 *   CUELEMENT            CUDA's type of `element`
 *   CUBLAS(x)            cuBLAS's function x
 *   CUHERMITIAN(x)       that for symmetric matrices if elements are real, for Hermitian ones if complex
 *   CUBLAS_NAME(x)       its name for messages, as cuBLAS's documents have it
 *   CUHERMITIAN_NAME(x)  the same
 *   CUTYPE               the precision as cuSOLVER's generic functions name it
 *   KERNEL(x)            the name of kernel x of kernels.cu
 *   CU(p), CONST_CU(p)   the address of elements as CUDA's type */
#if LETTER == 'd'
#define CUELEMENT double
#define CUBLAS(x) hd_dense_cuda.cublasD##x##_v2
#define CUBLAS_NAME(x) "cublasD" #x
#define CUHERMITIAN(x) hd_dense_cuda.cublasDsy##x##_v2
#define CUHERMITIAN_NAME(x) "cublasDsy" #x
#define CUTYPE CUDA_R_64F
#define KERNEL(x) "hd_d_" #x
#elif LETTER == 's'
#define CUELEMENT float
#define CUBLAS(x) hd_dense_cuda.cublasS##x##_v2
#define CUBLAS_NAME(x) "cublasS" #x
#define CUHERMITIAN(x) hd_dense_cuda.cublasSsy##x##_v2
#define CUHERMITIAN_NAME(x) "cublasSsy" #x
#define CUTYPE CUDA_R_32F
#define KERNEL(x) "hd_s_" #x
#elif LETTER == 'z'
#define CUELEMENT cuDoubleComplex
#define CUBLAS(x) hd_dense_cuda.cublasZ##x##_v2
#define CUBLAS_NAME(x) "cublasZ" #x
#define CUHERMITIAN(x) hd_dense_cuda.cublasZhe##x##_v2
#define CUHERMITIAN_NAME(x) "cublasZhe" #x
#define CUTYPE CUDA_C_64F
#define KERNEL(x) "hd_z_" #x
#else
#define CUELEMENT cuFloatComplex
#define CUBLAS(x) hd_dense_cuda.cublasC##x##_v2
#define CUBLAS_NAME(x) "cublasC" #x
#define CUHERMITIAN(x) hd_dense_cuda.cublasChe##x##_v2
#define CUHERMITIAN_NAME(x) "cublasChe" #x
#define CUTYPE CUDA_C_32F
#define KERNEL(x) "hd_c_" #x
#endif
#define CU(p) ((CUELEMENT *)(p))
#define CONST_CU(p) ((const CUELEMENT *)(p))
