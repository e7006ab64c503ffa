/* Functions of OpenMP and MKL, which the test defines itself. */
#ifndef TEST_INNER_RUNTIMES_H
#define TEST_INNER_RUNTIMES_H

void omp_set_num_threads(int n);
int omp_get_max_threads(void);
int omp_pause_resource_all(int kind);
int mkl_set_num_threads_local(int n);

#endif
