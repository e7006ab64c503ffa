/* The driver of kind "mpi". A rank's runtime has one worker of this kind. Its streams are messages under way; its tasks
 * are sends, receives and notes. The thread of the worker launches the tasks and asks for their ends; while it asks for
 * the oldest message, it lets the transport work. So the thread that takes a message's task also polls for its end, and
 * no thread wakes another one between. */
#include <stdlib.h>
#include <string.h>
#include "network.h"

/* --- The networks of the process ---------------------------------------------------------------------------------- */

/* Heddle opens devices by their numbers. `lock` protects the list; nothing is taken below it. */
static struct {
	pthread_mutex_t lock;
	struct hd_mpi_network **list;
	size_t n;
	int status;
} networks = {.lock = PTHREAD_MUTEX_INITIALIZER};

int hd_mpi_network_new(heddle_mpi *m, const struct hd_mpi_transport *transport, void *self, unsigned *device)
{
	struct hd_mpi_network *network = calloc(1, sizeof *network);
	size_t i = 0;
	if (!network)
		return heddle_error(HEDDLE_E_MEMORY, "no memory for the network of rank %d", m->rank);
	*network = (struct hd_mpi_network){.m = m, .transport = transport, .self = self};
	pthread_mutex_init(&network->lock, NULL);
	pthread_mutex_lock(&networks.lock);
	while (i < networks.n && networks.list[i])
		i++;
	if (i == networks.n) {
		struct hd_mpi_network **list = realloc(networks.list, (i + 1) * sizeof *list);
		if (list) {
			networks.list = list;
			networks.n++;
		} else {
			free(network);
			network = NULL;
		}
	}
	if (network)
		networks.list[i] = network;
	pthread_mutex_unlock(&networks.lock);
	m->network = network;
	*device = (unsigned)i;
	return network ? 0 : heddle_error(HEDDLE_E_MEMORY, "no memory for the network of rank %d", m->rank);
}

void hd_mpi_network_free(heddle_mpi *m)
{
	struct hd_mpi_network *network = m->network;
	if (!network)
		return;
	pthread_mutex_lock(&networks.lock);
	for (size_t i = 0; i < networks.n; i++)
		if (networks.list[i] == network)
			networks.list[i] = NULL;
	while (networks.n && !networks.list[networks.n - 1])
		networks.n--;
	if (!networks.n) {
		free(networks.list);
		networks.list = NULL;
	}
	pthread_mutex_unlock(&networks.lock);
	hd_mpi_network_end(network);
	network->transport->close(network->self);
	pthread_mutex_destroy(&network->lock);
	free(network);
	m->network = NULL;
}

static int open_device(const struct heddle_platform *platform, unsigned worker, void **device)
{
	unsigned number = platform->workers[worker].device;
	pthread_mutex_lock(&networks.lock);
	*device = number < networks.n ? networks.list[number] : NULL;
	pthread_mutex_unlock(&networks.lock);
	return *device ? 0 : heddle_error(HEDDLE_E_STATE, "workers of kind mpi are made by heddle_mpi_start");
}

static void close_device(void *device)
{
	(void)device;
}

static int open_stream(void *device, enum heddle_stream_use use, void **stream)
{
	(void)use;
	*stream = device;
	return 0;
}

static void close_stream(void *device, void *stream)
{
	(void)device, (void)stream;
}

/* --- Memory, which is main memory --------------------------------------------------------------------------------- */

static int allocate(void *device, size_t size, void **out)
{
	(void)device;
	*out = aligned_alloc(64, (size + 63) / 64 * 64);
	return *out ? 0 : heddle_error(HEDDLE_E_MEMORY, "no memory for a message of %zu bytes", size);
}

static void release(void *device, void *memory)
{
	(void)device;
	free(memory);
}

static int copy(void *device, void *stream, const struct heddle_copy *c, void **event)
{
	(void)device, (void)stream, (void)c, (void)event;
	return heddle_error(HEDDLE_E_UNSUPPORTED, "the network has no memory of its own");
}

/* --- Tasks -------------------------------------------------------------------------------------------------------- */

/* Gives the message the array of the task's datum, or a dense copy. */
static int take_array(heddle_context *c, struct hd_mpi_message *message)
{
	int status = heddle_context_part(c, 0, 0, &message->part);
	if (status)
		return status;
	message->bytes = hd_mpi_part_bytes(&message->part);
	message->length = message->bytes ? message->bytes : 1;
	message->buffer = message->part.base;
	message->packed = !hd_mpi_is_dense(&message->part) || !message->bytes;
	if (!message->packed)
		return 0;
	message->buffer = malloc(message->bytes + 1);
	if (!message->buffer)
		return HEDDLE_E_MEMORY;
	if (message->sends && message->bytes)
		hd_mpi_pack(&message->part, message->buffer);
	return 0;
}

static int carry(heddle_context *c)
{
	struct hd_mpi_message *message = heddle_get(c, 0, struct hd_mpi_message *);
	struct hd_mpi_network *network = heddle_stream(c);
	if (take_array(c, message))
		return heddle_fail(c, HEDDLE_E_MEMORY, "no memory for a message");
	pthread_mutex_lock(&network->lock);
	hd_mpi_network_begin(network, message);
	pthread_mutex_unlock(&network->lock);
	network->launched = message;
	return 0;
}

/* A send was cancelled, since its datum has no value: the receiver gets a message that is shorter than the value. */
static int say_no_value(heddle_context *c)
{
	struct hd_mpi_message *note = heddle_get(c, 0, struct hd_mpi_message *);
	struct hd_mpi_network *network = heddle_stream(c);
	pthread_mutex_lock(&network->lock);
	hd_mpi_network_begin(network, note);
	pthread_mutex_unlock(&network->lock);
	return 0;
}

/* The status of the task of a message that is done. */
static int outcome(const struct hd_mpi_message *message)
{
	int rank = message->pair->m->rank, peer = message->pair->peer;
	if (message->status)
		return heddle_error(HEDDLE_E_PEER, "rank %d: rank %d is lost, or the call has failed that was to %s it",
		                    rank, peer, message->sends ? "send to" : "receive from");
	if (!message->sends && message->got != message->length)
		return heddle_error(HEDDLE_E_CANCELLED, "rank %d: rank %d could not compute a value", rank, peer);
	return 0;
}

static int launch(void *device, void *stream, heddle_kernel kernel, heddle_context *context, void **event)
{
	struct hd_mpi_network *network = device;
	(void)stream;
	network->launched = NULL;
	int status = kernel(context);
	struct hd_mpi_message *message = network->launched;
	if (status || !message)
		return status;
	if (message->state == HD_MPI_DONE)
		return outcome(message);
	*event = message;
	return HEDDLE_PENDING;
}

static int query(void *device, void *event)
{
	struct hd_mpi_network *network = device;
	struct hd_mpi_message *message = event;
	if (message->state != HD_MPI_DONE && (message == network->posted.first || network->gives_up)) {
		pthread_mutex_lock(&network->lock);
		hd_mpi_network_poll(network);
		pthread_mutex_unlock(&network->lock);
	}
	return message->state == HD_MPI_DONE ? outcome(message) : HEDDLE_PENDING;
}

static int wait_for(void *device, void *event)
{
	int status;
	while ((status = query(device, event)) == HEDDLE_PENDING)
		sched_yield();
	return status;
}

static const struct heddle_driver driver = {
    .abi = HEDDLE_DRIVER_ABI,
    .kind = "mpi",
    .open = open_device,
    .close = close_device,
    .open_stream = open_stream,
    .close_stream = close_stream,
    .alloc = allocate,
    .free = release,
    .copy = copy,
    .launch = launch,
    .query = query,
    .wait = wait_for,
};

static void register_driver(void)
{
	networks.status = heddle_driver_register(&driver);
}

int hd_mpi_driver_register(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, register_driver);
	return networks.status ? heddle_error(networks.status, "another driver has the kind mpi") : 0;
}

int hd_mpi_codelets(heddle_mpi *m)
{
	struct heddle_implementation carries = {.kind = "mpi", .kernel = carry};
	struct heddle_implementation says = {.kind = "mpi", .kernel = say_no_value};
	struct heddle_codelet_desc desc = {.n_implementations = 1, .model = HEDDLE_MODEL_NONE};
	desc.implementations = &carries;
	desc.name = "mpi.send";
	int status = heddle_codelet_create(m->rt, &desc, &m->send);
	desc.name = "mpi.receive";
	if (!status)
		status = heddle_codelet_create(m->rt, &desc, &m->receive);
	desc.implementations = &says;
	desc.name = "mpi.note";
	return status ? status : heddle_codelet_create(m->rt, &desc, &m->note);
}

/* --- Looking at it ------------------------------------------------------------------------------------------------ */

void hd_mpi_give_up(heddle_mpi *m)
{
	m->network->gives_up = 1;
}

void hd_mpi_message_free(struct hd_mpi_message *message)
{
	if (message->packed)
		free(message->buffer);
	free(message);
}

/* The callback of a message's task. A send that was cancelled before it began is replaced by a note, which takes its
 * number. A receive that did not begin, because there was no memory, leaves a message that nobody takes. */
void hd_mpi_message_ended(void *arg, int status)
{
	struct hd_mpi_message *message = arg;
	heddle_mpi *m = message->pair->m;
	int begun = !status || message->state != HD_MPI_SUBMITTED;
	if (begun || !message->sends) {
		if (!begun)
			hd_mpi_give_up(m);
		hd_mpi_message_free(message);
		return;
	}
	message->is_note = 1;
	message->bytes = message->length = 0;
	message->buffer = (char *)"";
	message->packed = 0;
	if (heddle_submit(m->rt, heddle_call(m->note), heddle_value(message),
	                  heddle_in_group(message->pair->first_tag ? m->talk : m->messages)))
		hd_mpi_give_up(m); /* no memory: the receiver would wait for ever */
}

static void dump_list(FILE *out, const struct hd_mpi_message *first, const char *state)
{
	for (const struct hd_mpi_message *message = first; message; message = message->next)
		fprintf(out, "rank %d: message %llu %s rank %d%s, %zu bytes, %s\n", message->pair->m->rank,
		        (unsigned long long)message->number, message->sends ? "to" : "from", message->pair->peer,
		        message->pair->first_tag ? " of a wait" : "", message->bytes, state);
}

void heddle_mpi_dump(heddle_mpi *m, FILE *out)
{
	if (!m || !m->network)
		return;
	pthread_mutex_lock(&m->network->lock);
	fprintf(out, "rank %d of %d: %llu messages are posted\n", m->rank, m->size,
	        (unsigned long long)m->network->posted.n);
	dump_list(out, m->network->posted.first, "posted");
	dump_list(out, m->network->notes.first, "posted, without a value");
	for (int peer = 0; peer < m->size; peer++)
		for (unsigned tag = 0; m->pairs[peer] && tag < m->pairs[peer]->gate; tag++)
			dump_list(out, m->pairs[peer]->out.held[tag], "held");
	pthread_mutex_unlock(&m->network->lock);
}
