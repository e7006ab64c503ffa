/* Threads of programs written for StarPU: POSIX threads under other names. */
#ifndef HEDDLE_STARPU_THREAD_H
#define HEDDLE_STARPU_THREAD_H

#include <pthread.h>
#include <starpu_util.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef pthread_t starpu_pthread_t;
typedef pthread_attr_t starpu_pthread_attr_t;
typedef pthread_mutex_t starpu_pthread_mutex_t;
typedef pthread_mutexattr_t starpu_pthread_mutexattr_t;
typedef pthread_cond_t starpu_pthread_cond_t;
typedef pthread_condattr_t starpu_pthread_condattr_t;
typedef pthread_key_t starpu_pthread_key_t;

#define starpu_pthread_create pthread_create
#define starpu_pthread_join pthread_join
#define starpu_pthread_self pthread_self
#define starpu_pthread_equal pthread_equal
#define starpu_pthread_mutex_init pthread_mutex_init
#define starpu_pthread_mutex_destroy pthread_mutex_destroy
#define starpu_pthread_mutex_lock pthread_mutex_lock
#define starpu_pthread_mutex_trylock pthread_mutex_trylock
#define starpu_pthread_mutex_unlock pthread_mutex_unlock
#define starpu_pthread_cond_init pthread_cond_init
#define starpu_pthread_cond_destroy pthread_cond_destroy
#define starpu_pthread_cond_wait pthread_cond_wait
#define starpu_pthread_cond_signal pthread_cond_signal
#define starpu_pthread_cond_broadcast pthread_cond_broadcast
#define starpu_pthread_key_create pthread_key_create
#define starpu_pthread_key_delete pthread_key_delete
#define starpu_pthread_setspecific pthread_setspecific
#define starpu_pthread_getspecific pthread_getspecific

#define STARPU_PTHREAD_MUTEX_INITIALIZER PTHREAD_MUTEX_INITIALIZER
#define STARPU_PTHREAD_COND_INITIALIZER PTHREAD_COND_INITIALIZER

/* The calls of these macros abort the program if they fail. */
#define STARPU_PTHREAD_MUST_(call) STARPU_CHECK_RETURN_VALUE(-(call), "%s", #call)
#define STARPU_PTHREAD_CREATE(t, a, f, arg) STARPU_PTHREAD_MUST_(pthread_create(t, a, f, arg))
#define STARPU_PTHREAD_JOIN(t, result) STARPU_PTHREAD_MUST_(pthread_join(t, result))
#define STARPU_PTHREAD_MUTEX_INIT(m, a) STARPU_PTHREAD_MUST_(pthread_mutex_init(m, a))
#define STARPU_PTHREAD_MUTEX_DESTROY(m) STARPU_PTHREAD_MUST_(pthread_mutex_destroy(m))
#define STARPU_PTHREAD_MUTEX_LOCK(m) STARPU_PTHREAD_MUST_(pthread_mutex_lock(m))
#define STARPU_PTHREAD_MUTEX_UNLOCK(m) STARPU_PTHREAD_MUST_(pthread_mutex_unlock(m))
#define STARPU_PTHREAD_COND_INIT(c, a) STARPU_PTHREAD_MUST_(pthread_cond_init(c, a))
#define STARPU_PTHREAD_COND_DESTROY(c) STARPU_PTHREAD_MUST_(pthread_cond_destroy(c))
#define STARPU_PTHREAD_COND_WAIT(c, m) STARPU_PTHREAD_MUST_(pthread_cond_wait(c, m))
#define STARPU_PTHREAD_COND_SIGNAL(c) STARPU_PTHREAD_MUST_(pthread_cond_signal(c))
#define STARPU_PTHREAD_COND_BROADCAST(c) STARPU_PTHREAD_MUST_(pthread_cond_broadcast(c))
#define STARPU_PTHREAD_KEY_CREATE(k, f) STARPU_PTHREAD_MUST_(pthread_key_create(k, f))
#define STARPU_PTHREAD_KEY_DELETE(k) STARPU_PTHREAD_MUST_(pthread_key_delete(k))
#define STARPU_PTHREAD_SETSPECIFIC(k, p) STARPU_PTHREAD_MUST_(pthread_setspecific(k, p))
#define STARPU_PTHREAD_GETSPECIFIC(k) pthread_getspecific(k)

/* What pthread.h declares unless the compiler is told to know only the C standard. */
#ifdef PTHREAD_BARRIER_SERIAL_THREAD
typedef pthread_rwlock_t starpu_pthread_rwlock_t;
typedef pthread_barrier_t starpu_pthread_barrier_t;
#define starpu_pthread_barrier_init pthread_barrier_init
#define starpu_pthread_barrier_wait pthread_barrier_wait
#define starpu_pthread_barrier_destroy pthread_barrier_destroy
#define starpu_pthread_rwlock_init pthread_rwlock_init
#define starpu_pthread_rwlock_destroy pthread_rwlock_destroy
#define starpu_pthread_rwlock_rdlock pthread_rwlock_rdlock
#define starpu_pthread_rwlock_wrlock pthread_rwlock_wrlock
#define starpu_pthread_rwlock_unlock pthread_rwlock_unlock
#define STARPU_PTHREAD_RWLOCK_INITIALIZER PTHREAD_RWLOCK_INITIALIZER
#define STARPU_PTHREAD_BARRIER_INIT(b, a, n) STARPU_PTHREAD_MUST_(pthread_barrier_init(b, a, n))
#define STARPU_PTHREAD_BARRIER_DESTROY(b) STARPU_PTHREAD_MUST_(pthread_barrier_destroy(b))
#define STARPU_PTHREAD_BARRIER_WAIT(b) ((void)pthread_barrier_wait(b))
#endif

/* Sleep for a number of seconds, or of microseconds. */
void starpu_sleep(float seconds);
void starpu_usleep(float us);

#ifdef __cplusplus
}
#endif
#endif
