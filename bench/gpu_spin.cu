/* The kernel of gpu_stencil.c: one thread makes turns of a loop, whose operations depend on each other. */
extern "C" __global__ void bench_spin(long long turns, double *x)
{
	double v = *x;
	for (long long i = 0; i < turns; i++)
		v = v * 0.999999 + 1e-6;
	*x = v;
}
