/* Undoes precision.h. */
#undef CUELEMENT
#undef CUBLAS
#undef CUBLAS_NAME
#undef CUHERMITIAN
#undef CUHERMITIAN_NAME
#undef CUTYPE
#undef KERNEL
#undef CU
#undef CONST_CU
