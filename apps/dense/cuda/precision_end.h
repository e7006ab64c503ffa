/* Undoes precision.h. */
#undef CUELEMENT
#undef CUBLAS
#undef CUHERMITIAN
#undef CUTYPE
#undef KERNEL
#undef CU
#undef CONST_CU
