/* Functions of OpenMP, MKL and BLIS, which the test defines itself. */
#ifndef TEST_INNER_RUNTIMES_H
#define TEST_INNER_RUNTIMES_H

#include <stdint.h>

void omp_set_num_threads(int n);
int omp_get_max_threads(void);
int omp_pause_resource_all(int kind);
int mkl_set_num_threads_local(int n);
/* dim_t of BLIS has 64 bits where addresses have. */
void bli_thread_set_num_threads(intptr_t n);
intptr_t bli_thread_get_num_threads(void);

#endif
