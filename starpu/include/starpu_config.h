/* What this build offers to programs written for StarPU: the macros that such programs test. */
#ifndef HEDDLE_STARPU_CONFIG_H
#define HEDDLE_STARPU_CONFIG_H

/* The interface that the headers follow. STARPU_HEDDLE tells a program that the runtime is Heddle. */
#define STARPU_MAJOR_VERSION 1
#define STARPU_MINOR_VERSION 3
#define STARPU_RELEASE_VERSION 10
#define STARPU_HEDDLE 1

#define STARPU_USE_CPU 1
#define STARPU_LINUX_SYS 1
#define STARPU_HAVE_SETENV 1
#define STARPU_HAVE_UNSETENV 1
#define STARPU_HAVE_RINTF 1
#define STARPU_HAVE_NEARBYINTF 1
#define STARPU_HAVE_STRERROR_R 1

/* How many data a codelet lists in `modes` and a task in `handles`; with dyn_modes and dyn_handles there is no limit.
 */
#ifndef STARPU_NMAXBUFS
#define STARPU_NMAXBUFS 8
#endif
/* How many implementations a codelet may have for one kind of worker. */
#define STARPU_MAXIMPLEMENTATIONS 4

/* Limits for arrays of programs. Heddle itself has no such limit; a machine with more workers is not reported. */
#define STARPU_NMAXWORKERS 512
#define STARPU_MAXNODES 64
#define STARPU_MAXCPUS 512
#define STARPU_MAXNUMANODES 1
#define STARPU_MAXCUDADEVS 16
#define STARPU_MAXOPENCLDEVS 16
#define STARPU_MAXMICDEVS 0
#define STARPU_NMAX_SCHED_CTXS 1

typedef long starpu_ssize_t;

#endif
