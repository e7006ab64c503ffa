/* Callbacks of CUDA and OpenCL for the end of an operation: see bell.h. */
#include "bell.h"
#include <pthread.h>
#include <stdlib.h>

struct hd_bell {
	pthread_mutex_t lock; /* guards `users` and `closed`; held while a rope's `ended` is called */
	unsigned users;       /* number of users: each rope, and the stream while it is open */
	int closed;
};

struct hd_bell_rope {
	struct hd_bell *bell; /* borrowed; counted in bell->users */
	void (*ended)(void *arg);
	void *arg;
};

struct hd_bell *hd_bell_new(void)
{
	struct hd_bell *b = calloc(1, sizeof *b);
	if (!b)
		return NULL;
	pthread_mutex_init(&b->lock, NULL);
	b->users = 1;
	return b;
}

/* Decrements bell->users, and frees the bell when no user is left. `tell`: the rope whose `ended` is called before,
 * unless the bell is closed; NULL: none. `closes`: 1: closes the bell. */
static void leave(struct hd_bell *b, const struct hd_bell_rope *tell, int closes)
{
	pthread_mutex_lock(&b->lock);
	if (tell && !b->closed)
		tell->ended(tell->arg);
	b->closed |= closes;
	unsigned left = --b->users;
	pthread_mutex_unlock(&b->lock);
	if (left)
		return;
	pthread_mutex_destroy(&b->lock);
	free(b);
}

void hd_bell_close(struct hd_bell *bell)
{
	if (bell)
		leave(bell, NULL, 1);
}

struct hd_bell_rope *hd_bell_rope(struct hd_bell *bell, void (*ended)(void *arg), void *arg)
{
	struct hd_bell_rope *rope = malloc(sizeof *rope);
	if (!rope)
		return NULL;
	*rope = (struct hd_bell_rope){.bell = bell, .ended = ended, .arg = arg};
	pthread_mutex_lock(&bell->lock);
	bell->users++;
	pthread_mutex_unlock(&bell->lock);
	return rope;
}

void hd_bell_ring(struct hd_bell_rope *rope, int tells)
{
	leave(rope->bell, tells ? rope : NULL, 0);
	free(rope);
}
