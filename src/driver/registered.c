/* Drivers that the program or a plug-in has registered: heddle_driver_register. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "driver.h"
#include "machine/machine.h"

/* Like policies, drivers belong to the process, because they are registered before a runtime is started. */
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static const struct heddle_driver **registered; /* guarded by registry_lock; owns the array, not the drivers */
static size_t n_registered;                     /* guarded by registry_lock */

const struct heddle_driver *hd_driver_registered_at(size_t i)
{
	pthread_mutex_lock(&registry_lock);
	const struct heddle_driver *driver = i < n_registered ? registered[i] : NULL;
	pthread_mutex_unlock(&registry_lock);
	return driver;
}

const struct heddle_driver *hd_driver_registered(const char *kind)
{
	const struct heddle_driver *driver;
	for (size_t i = 0; (driver = hd_driver_registered_at(i)); i++)
		if (strcmp(driver->kind, kind) == 0)
			return driver;
	return NULL;
}

const char *hd_driver_kernels_of(const char *kind)
{
	if (strcmp(kind, "emulated") == 0)
		return "cpu";
	const struct heddle_driver *driver = hd_driver_registered(kind);
	return driver ? driver->kernels_of : NULL;
}

static int is_own_kind(const char *kind)
{
	for (size_t i = 0; i < HD_N_KINDS; i++)
		if (strcmp(hd_kinds[i], kind) == 0)
			return 1;
	return 0;
}

/* The name of a function that the driver must have and lacks; NULL: none. Some functions are required; other functions
 * form groups, and a driver must have all functions of a group or none. */
static const char *missing_function(const struct heddle_driver *d)
{
	const struct {
		const char *name;
		int there, needed;
	} functions[] = {
	    {"open", d->open != NULL, 1},
	    {"close", d->close != NULL, 1},
	    {"alloc", d->alloc != NULL, 1},
	    {"free", d->free != NULL, 1},
	    {"copy", d->copy != NULL, 1},
	    {"launch", d->launch != NULL, 1},
	    {"count", d->count != NULL, d->describe != NULL},
	    {"describe", d->describe != NULL, d->count != NULL},
	    {"open_stream", d->open_stream != NULL, d->close_stream || d->query || d->wait},
	    {"close_stream", d->close_stream != NULL, d->open_stream != NULL},
	    {"query", d->query != NULL, d->open_stream != NULL},
	    {"wait", d->wait != NULL, d->open_stream != NULL},
	    {"alloc_host", d->alloc_host != NULL, d->free_host != NULL},
	    {"free_host", d->free_host != NULL, d->alloc_host != NULL},
	    {"pin", d->pin != NULL, d->unpin != NULL},
	    {"unpin", d->unpin != NULL, d->pin != NULL},
	};
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (functions[i].needed && !functions[i].there)
			return functions[i].name;
	return NULL;
}

static int check_driver(const struct heddle_driver *d)
{
	if (!d || !d->kind || !*d->kind)
		return hd_error(HEDDLE_E_INVALID, "a driver without a kind cannot be registered: set its field kind");
	if (d->abi != HEDDLE_DRIVER_ABI)
		return hd_error(HEDDLE_E_INVALID,
		                "the driver of kind '%s' was made for interface %u, this library has %d: set .abi = "
		                "HEDDLE_DRIVER_ABI and compile it again",
		                d->kind, d->abi, HEDDLE_DRIVER_ABI);
	if (is_own_kind(d->kind))
		return hd_error(HEDDLE_E_INVALID, "kind '%s' is one of Heddle's own: give your driver another one",
		                d->kind);
	if (strcspn(d->kind, "=, ") != strlen(d->kind))
		return hd_error(HEDDLE_E_INVALID,
		                "kind '%s' has a blank, a comma or a '=' in it: leave them out, because the setting "
		                "devices says KIND=N,KIND=N",
		                d->kind);
	if (d->kernels_of && (!is_own_kind(d->kernels_of) || strcmp(d->kernels_of, "emulated") == 0))
		return hd_error(HEDDLE_E_INVALID,
		                "the driver of kind '%s' has kernels_of '%s': it must be cpu, opencl or cuda, or NULL",
		                d->kind, d->kernels_of);
	const char *missing = missing_function(d);
	if (missing)
		return hd_error(HEDDLE_E_INVALID,
		                "the driver of kind '%s' has no function %s: heddle/driver.h says which it must have",
		                d->kind, missing);
	return HEDDLE_OK;
}

/* Adds a driver to `registered`. The caller holds registry_lock. */
static int add_driver(const struct heddle_driver *driver)
{
	for (size_t i = 0; i < n_registered; i++) {
		if (registered[i] == driver)
			return HEDDLE_OK;
		if (strcmp(registered[i]->kind, driver->kind) == 0)
			return hd_error(HEDDLE_E_INVALID,
			                "there is already a driver of kind '%s': give yours another kind",
			                driver->kind);
	}
	const struct heddle_driver **grown = realloc(registered, (n_registered + 1) * sizeof *grown);
	if (!grown)
		return hd_no_memory("the list of drivers");
	registered = grown;
	registered[n_registered++] = driver;
	return HEDDLE_OK;
}

int heddle_driver_register(const struct heddle_driver *driver)
{
	int status = check_driver(driver);
	if (status < 0)
		return status;
	pthread_mutex_lock(&registry_lock);
	status = add_driver(driver);
	pthread_mutex_unlock(&registry_lock);
	return status;
}
