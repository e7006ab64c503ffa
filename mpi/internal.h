/* What the files of mpi/ share.
 *
 * stream/      what is submitted: who executes, where the value of each datum is, which messages follow
 * pairs/       what two ranks know of each other: numbers of messages, twin caches, hashes of the stream
 * network/     the driver of kind "mpi": messages as tasks of a worker whose thread polls
 * transports/  a table of functions that carry messages: MPI; loop, ranks that are threads; chaos
 *
 * Two threads: the *stream's* (the program's) and the *network's* (of the worker of kind "mpi"). Each field below
 * belongs to the stream's thread unless its comment says otherwise. */
#ifndef HD_MPI_INTERNAL_H
#define HD_MPI_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <heddle/driver.h>
#include <heddle/mpi.h>

struct hd_mpi_transport;
struct hd_mpi_network;

enum hd_mpi_message_state {
	HD_MPI_SUBMITTED, /* a task waits for its data */
	HD_MPI_HELD,      /* an earlier message of the same tag is still to be posted */
	HD_MPI_POSTED,    /* the transport has it */
	HD_MPI_DONE
};

/* One end of a message. The thread of the stream makes it; from the launch of its task on it belongs to the network's
 * thread, until it is done; the callback of its task frees it. */
struct hd_mpi_message {
	struct hd_mpi_pair *pair;
	uint64_t number; /* of this pair and direction */
	int sends;       /* 1: this end sends */
	int is_note;     /* 1: it says that there is no value. It has no task, and the network frees it */
	enum hd_mpi_message_state state;
	int status;
	struct heddle_part part;                /* the array in this rank's memory */
	char *buffer;                           /* what the transport sends or fills: `part`, or a dense copy */
	int packed;                             /* 1: `buffer` is a dense copy, which the message owns */
	size_t bytes;                           /* of the value */
	size_t length;                          /* of the message: that of the value, at least 1; a note has 0 */
	size_t got;                             /* the length of the message that has come */
	struct hd_mpi_message *previous, *next; /* of the network's list of posted messages, or of held ones */
	/* the transport's own */
	int tag;
	size_t place;
	uint64_t due;
	struct hd_mpi_message *link;
};

/* A value that one rank holds of another one's datum: a member of the list of the datum, and of that of the pair. */
struct hd_mpi_copy {
	heddle_mpi_data *data;
	struct hd_mpi_pair *pair; /* with the other end */
	struct hd_mpi_copy *next; /* on the owner: the next copy of the datum */
	struct hd_mpi_copy *older, *newer;
};

/* Copies in the order of their use, newest last. Owner and holder have equal lists: *twin caches*. */
struct hd_mpi_cache {
	struct hd_mpi_copy *oldest, *newest;
	uint64_t bytes;
	size_t n;
};

/* What this rank and another one know of each other's stream, as numbers that both ends compute. */
struct hd_mpi_step {
	uint64_t hash;
	uint64_t index; /* of the call in this rank's stream */
	char name[32];  /* of the codelet, or of the function */
};
enum { HD_MPI_STEPS = 128 };
struct hd_mpi_trail {
	uint64_t n;                             /* calls that concern both ranks, since the start */
	struct hd_mpi_step steps[HD_MPI_STEPS]; /* the last ones: call i is at i % HD_MPI_STEPS */
};

/* One direction of a pair. Message n has the tag n mod gate, and is posted after message n - gate has ended: *turns*,
 * which are data that the tasks of messages write. */
struct hd_mpi_way {
	uint64_t n;          /* numbers given */
	heddle_data **turns; /* `gate`; NULL: not used so far */
	/* of the network's thread, for sends: the number that is posted next, and what waits for it, per tag */
	uint64_t *next;
	struct hd_mpi_message **held;
};

struct hd_mpi_pair {
	heddle_mpi *m;
	int peer;
	int first_tag;
	unsigned gate;
	struct hd_mpi_way out, in;
	char *tokens;               /* of the turns */
	struct hd_mpi_cache given;  /* what the peer holds of this rank's data */
	struct hd_mpi_cache kept;   /* what this rank holds of the peer's data */
	struct hd_mpi_trail *trail; /* NULL: nothing concerns both */
	int lost;                   /* of the network's thread: messages fail at once */
};

/* What a rank has of a datum: the owner, or a rank with a copy or with a part of a reduction. */
struct hd_mpi_local {
	heddle_data *handle;        /* has the present value; NULL: there is none here */
	struct hd_mpi_copy *copies; /* on the owner: who has the value, too; else the copy that is `handle` */
	heddle_data *partial;       /* the sum of this rank's contributions to a reduction; NULL: none */
	char *contributes;          /* on the owner: which ranks contribute; NULL: none */
	int acquired;
};

/* A datum: 64 bytes, of which most ranks use no more. */
struct heddle_mpi_data {
	heddle_mpi *m;
	uint64_t key;
	const struct heddle_part *shape; /* shared by data of equal shapes; dense, without a base */
	struct hd_mpi_local *local;      /* NULL: this rank has nothing of it */
	const struct heddle_part *home;  /* owned, on the first owner: where the value is; NULL: a temporary */
	const struct hd_mpi_reduction *reduction;
	uint64_t bytes;
	int owner;
	int reducing; /* 1: contributions are under way, as far as this rank knows */
};
struct hd_mpi_reduction {
	heddle_codelet *init, *combine;
	struct hd_mpi_reduction *next;
};

struct heddle_mpi {
	heddle_runtime *rt;
	int rank, size;
	struct heddle_mpi_settings settings;
	struct hd_mpi_network *network;
	heddle_codelet *send, *receive, *note;
	/* the groups of the tasks of messages: those with values, and what ranks say to each other in waits */
	heddle_group *messages, *talk;
	struct hd_mpi_pair **pairs;   /* per rank; NULL: nothing has been sent so far */
	struct hd_mpi_pair **control; /* the same, for what ranks say to each other in waits */
	struct hd_mpi_slab *slabs;
	heddle_mpi_data *free_data; /* by their field `local` */
	struct hd_mpi_shape *shapes;
	struct hd_mpi_reduction *reductions;
	heddle_mpi_data **open_reductions; /* data with `reducing` */
	size_t n_open, max_open;
	struct heddle_mpi_counts stats;
	int broken; /* HEDDLE_E_INVALID or HEDDLE_E_PEER: only heddle_mpi_stop is of use */
};

/* --- stream/ ------------------------------------------------------------------------------------------------------ */

/* data.c: what this rank has of the datum, made if need be; NULL: no memory. */
struct hd_mpi_local *hd_mpi_local(heddle_mpi_data *d);
/* Frees it when it has nothing left. */
void hd_mpi_local_tidy(heddle_mpi_data *d);
/* A handle without a buffer of the program, of the datum's shape. */
int hd_mpi_temporary(heddle_mpi_data *d, heddle_data **out);
/* On the owner: the handle, made if need be. */
int hd_mpi_handle(heddle_mpi_data *d, heddle_data **out);
void hd_mpi_data_free_all(heddle_mpi *m);

/* versions.c: the steps of the stream. `reader` is to read the datum: the value is sent to it unless it has it. */
int hd_mpi_bring(heddle_mpi_data *d, int reader, int priority);
/* `writer` has written the datum: the value goes home, and copies of earlier values end. */
int hd_mpi_written(heddle_mpi_data *d, int writer, int priority);
/* Ends all copies but that of `keeper`; -1: all. */
void hd_mpi_forget(heddle_mpi_data *d, int keeper);

/* readers.c: the value goes to these ranks along a tree. */
int hd_mpi_spread(heddle_mpi_data *d, const int *ranks, size_t n);

/* reductions.c: a task on `rank` contributes; *handle is set on that rank. */
int hd_mpi_contribute(heddle_mpi_data *d, int rank, heddle_data **handle);
/* Ends a reduction: contributors send their sums, the owner adds them. The second function ends all that are open. */
int hd_mpi_combine(heddle_mpi_data *d, int priority);
int hd_mpi_combine_all(heddle_mpi *m);

/* --- pairs/ ------------------------------------------------------------------------------------------------------- */

/* pairs.c: the pair with a rank for values, and that for what ranks say to each other in waits, made if need be; NULL:
 * no memory. */
struct hd_mpi_pair *hd_mpi_pair(heddle_mpi *m, int peer);
struct hd_mpi_pair *hd_mpi_control(heddle_mpi *m, int peer);
void hd_mpi_pairs_free(heddle_mpi *m);
/* Numbers a message and submits its task: sends the value of the handle, or receives into it. */
int hd_mpi_send(struct hd_mpi_pair *p, heddle_data *handle, int priority);
int hd_mpi_receive(struct hd_mpi_pair *p, heddle_data *handle, int priority);

/* caches.c: the copy that a rank holds, to be asked on this rank and on the owner; NULL: none. A use makes it, or makes
 * it the newest one. Its end also ends the handle, on its holder. After each call of the stream full caches are
 * trimmed. */
struct hd_mpi_copy *hd_mpi_copy_of(const heddle_mpi_data *d, int peer);
int hd_mpi_copy_use(heddle_mpi_data *d, int holder);
void hd_mpi_copy_end(struct hd_mpi_copy *copy);
void hd_mpi_caches_trim(heddle_mpi *m, int peer);

/* trail.c: notes a call that concerns `peer`, too; this rank's part of the sum that is 0 if all streams are equal;
 * finds where they differ (HEDDLE_E_INVALID, with the sentence on one of the two ranks; all ranks call it, and it
 * blocks). */
void hd_mpi_trail_add(heddle_mpi *m, int peer, uint64_t hash, const char *name);
uint64_t hd_mpi_trails_sum(const heddle_mpi *m);
int hd_mpi_trails_compare(heddle_mpi *m, char *sentence, size_t size);

/* --- network/ ----------------------------------------------------------------------------------------------------- */

/* driver.c: makes the driver known, and gives the number of the device that a network will be. */
int hd_mpi_driver_register(void);
int hd_mpi_network_new(heddle_mpi *m, const struct hd_mpi_transport *transport, void *self, unsigned *device);
void hd_mpi_network_free(heddle_mpi *m);
/* Makes the codelets of sends, receives and notes. */
int hd_mpi_codelets(heddle_mpi *m);
/* Lets all messages that are under way, and later ones, fail. Any thread. */
void hd_mpi_give_up(heddle_mpi *m);
void hd_mpi_message_free(struct hd_mpi_message *message);
/* The callback of a message's task. */
void hd_mpi_message_ended(void *message, int status);

/* start.c: starts a rank on a transport, which it takes over, also if the start fails. */
int hd_mpi_start_on(const struct heddle_config *config, const struct heddle_mpi_settings *settings,
                    const struct hd_mpi_transport *transport, void *self, heddle_mpi **out);
/* Stops the runtime, and frees everything. */
int hd_mpi_free(heddle_mpi *m);

#endif
