/* Starting and stopping: the rank's runtime, which is Heddle's with one more worker, and its network. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "mpi/internal.h"
#include "mpi/transports/transport.h"

enum { MOST_MESSAGES = 512, MOST_GATE = 1024 };

void heddle_mpi_settings_init(struct heddle_mpi_settings *settings)
{
	if (settings)
		*settings = (struct heddle_mpi_settings){.gate = 64, .cache = (uint64_t)256 << 20, .arity = 4};
}

/* The gate that leaves room for messages to and from all ranks. */
static int set_settings(heddle_mpi *m, const struct heddle_mpi_settings *settings)
{
	if (settings)
		m->settings = *settings;
	else
		heddle_mpi_settings_init(&m->settings);
	unsigned gate = m->settings.gate, others = m->size > 1 ? (unsigned)m->size - 1 : 1;
	unsigned room = MOST_MESSAGES / 2 / others;
	if (!gate || gate > MOST_GATE || !m->settings.arity || !isfinite(m->settings.peer_timeout) ||
	    m->settings.peer_timeout < 0)
		return heddle_error(
		    HEDDLE_E_INVALID,
		    "heddle_mpi_start: gate is %u, it must be from 1 to %d; arity is %u; peer_timeout is %g s", gate,
		    MOST_GATE, m->settings.arity, m->settings.peer_timeout);
	if (!settings || gate > room)
		m->settings.gate = room < 1 ? 1 : room < gate ? room : gate;
	return 0;
}

/* Adds the worker of kind "mpi": its streams are the messages that may be under way, and a stream for notes. */
static int add_worker(struct heddle_platform *p, const heddle_mpi *m, unsigned device)
{
	unsigned others = (unsigned)m->size - 1, streams = 2 * others * (m->settings.gate + 1) + 1;
	struct heddle_class *classes = realloc(p->classes, (p->n_classes + 1) * sizeof *classes);
	p->classes = classes ? classes : p->classes;
	struct heddle_worker *workers = realloc(p->workers, (p->n_workers + 1) * sizeof *workers);
	p->workers = workers ? workers : p->workers;
	if (!classes || !workers)
		return HEDDLE_E_MEMORY;
	struct heddle_class *c = &classes[p->n_classes++];
	struct heddle_worker *w = &workers[p->n_workers++];
	*c = (struct heddle_class){.cores = 1, .pipeline = streams, .streams = streams, .slowdown = 1, .service = 1};
	*w = (struct heddle_worker){.class_id = (unsigned)p->n_classes - 1, .core = -1, .device = device};
	c->name = strdup("mpi");
	c->kind = strdup("mpi");
	w->name = strdup("mpi");
	return c->name && c->kind && w->name ? 0 : HEDDLE_E_MEMORY;
}

static int start_runtime(heddle_mpi *m, const struct heddle_config *config, unsigned device)
{
	struct heddle_platform *platform = NULL;
	struct heddle_config defaults;
	int status = 0;
	if (!config) {
		status = heddle_config_init(&defaults);
		config = &defaults;
	}
	if (!status)
		status = heddle_platform_configured(config, &platform);
	if (!status && add_worker(platform, m, device))
		status = heddle_error(HEDDLE_E_MEMORY, "no memory for the platform of rank %d", m->rank);
	if (!status)
		status = heddle_start_on(config, platform, 0, &m->rt);
	if (platform)
		heddle_platform_free(platform);
	if (!status)
		status = hd_mpi_codelets(m);
	if (!status)
		status = heddle_group_create(m->rt, &m->messages);
	return status ? status : heddle_group_create(m->rt, &m->talk);
}

int hd_mpi_free(heddle_mpi *m)
{
	int status = heddle_stop(m->rt);
	hd_mpi_network_free(m);
	hd_mpi_data_free_all(m);
	hd_mpi_pairs_free(m);
	free(m);
	return status;
}

int hd_mpi_start_on(const struct heddle_config *config, const struct heddle_mpi_settings *settings,
                    const struct hd_mpi_transport *transport, void *self, heddle_mpi **out)
{
	heddle_mpi *m = calloc(1, sizeof *m);
	unsigned device = 0;
	*out = NULL;
	if (!m) {
		transport->close(self);
		return heddle_error(HEDDLE_E_MEMORY, "no memory for heddle_mpi_start");
	}
	m->rank = transport->rank(self);
	m->size = transport->size(self);
	m->pairs = calloc((size_t)m->size, sizeof *m->pairs);
	m->control = calloc((size_t)m->size, sizeof *m->control);
	int status = m->pairs && m->control ? set_settings(m, settings) : HEDDLE_E_MEMORY;
	if (!status)
		status = hd_mpi_driver_register();
	if (!status)
		status = hd_mpi_network_new(m, transport, self, &device);
	else
		transport->close(self);
	if (!status)
		status = start_runtime(m, config, device);
	if (status)
		hd_mpi_free(m);
	else
		*out = m;
	return status;
}

/* --- MPI ---------------------------------------------------------------------------------------------------------- */

/* The status that all ranks return: of the lowest rank whose start has failed. */
static int same_status(MPI_Comm comm, int status, int rank, int size)
{
	int mine = status ? rank : size, first;
	if (MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS)
		return HEDDLE_E_PEER;
	if (first == size)
		return 0;
	int its = status;
	MPI_Bcast(&its, 1, MPI_INT, first, comm);
	return status ? status : heddle_error(its, "heddle_mpi_start has failed on rank %d", first);
}

static int check_settings(MPI_Comm comm, const struct heddle_mpi_settings *settings)
{
	struct heddle_mpi_settings its;
	if (settings)
		its = *settings;
	else
		heddle_mpi_settings_init(&its);
	uint64_t all[6] = {its.gate,   ~(uint64_t)its.gate,        its.cache,
	                   ~its.cache, (uint64_t)its.peer_timeout, ~(uint64_t)its.peer_timeout};
	if (MPI_Allreduce(MPI_IN_PLACE, all, 6, MPI_UINT64_T, MPI_MAX, comm) != MPI_SUCCESS)
		return heddle_error(HEDDLE_E_PEER, "heddle_mpi_start: MPI_Allreduce has failed");
	if (all[0] != ~all[1] || all[2] != ~all[3] || all[4] != ~all[5])
		return heddle_error(HEDDLE_E_INVALID, "heddle_mpi_start: the settings of the ranks differ");
	return 0;
}

int heddle_mpi_start_with(const struct heddle_config *config, const struct heddle_mpi_settings *settings, MPI_Comm comm,
                          heddle_mpi **out)
{
	int started = 0, level = 0, rank = 0, size = 1;
	void *self;
	if (!out)
		return heddle_error(HEDDLE_E_INVALID, "heddle_mpi_start: `out` is NULL");
	*out = NULL;
	MPI_Initialized(&started);
	if (started)
		MPI_Query_thread(&level);
	if (!started || level < MPI_THREAD_SERIALIZED)
		return heddle_error(HEDDLE_E_STATE,
		                    "heddle_mpi_start: MPI is not started, or lets one thread alone call it: start it "
		                    "by MPI_Init_thread with MPI_THREAD_MULTIPLE");
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	int status = check_settings(comm, settings);
	if (!status)
		status = hd_mpi_transport_mpi_open(comm, &self);
	if (status)
		return status;
	status = hd_mpi_start_on(config, settings, &hd_mpi_transport_mpi, self, out);
	status = same_status(comm, status, rank, size);
	if (status && *out)
		hd_mpi_free(*out);
	if (status)
		*out = NULL;
	return status;
}

int heddle_mpi_start(const struct heddle_config *config, MPI_Comm comm, heddle_mpi **out)
{
	return heddle_mpi_start_with(config, NULL, comm, out);
}

int heddle_mpi_stop(heddle_mpi *m)
{
	if (!m)
		return 0;
	int status = m->broken ? m->broken : heddle_mpi_wait_all(m);
	char *sentence = status ? strdup(heddle_last_error()) : NULL;
	int stopped = hd_mpi_free(m);
	if (status)
		heddle_error(status, "%s", sentence ? sentence : "no memory");
	free(sentence);
	return status ? status : stopped;
}

/* --- What the rank is --------------------------------------------------------------------------------------------- */

heddle_runtime *heddle_mpi_runtime(const heddle_mpi *m)
{
	return m ? m->rt : NULL;
}

int heddle_mpi_rank(const heddle_mpi *m)
{
	return m ? m->rank : HEDDLE_E_INVALID;
}

int heddle_mpi_size(const heddle_mpi *m)
{
	return m ? m->size : HEDDLE_E_INVALID;
}
