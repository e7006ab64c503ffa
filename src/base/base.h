/* What every module needs: errors, random numbers, hashing, files, time. No state but the thread's error message. */
#ifndef HD_BASE_H
#define HD_BASE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <heddle/status.h>

#define HD_CACHE_LINE 64
#define HD_LIKELY(x) __builtin_expect(!!(x), 1)
#define HD_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define HD_CONTAINER(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))
static inline size_t hd_round_up(size_t size, size_t step)
{
	return (size + step - 1) / step * step;
}

/* Leaves the sentence for heddle_last_error and returns `status`, so that `return hd_error(...)` reads well. */
int hd_error(int status, const char *format, ...) __attribute__((format(printf, 2, 3), cold));
/* Puts `prefix: ` before the sentence already there. */
int hd_error_context(int status, const char *format, ...) __attribute__((format(printf, 2, 3), cold));
/* A call that succeeds leaves the sentence of the last one that failed, whatever it met on its way: kept at its
 * beginning, given back at its end. */
struct hd_sentence {
	char text[1024];
};
void hd_error_keep(struct hd_sentence *kept);
void hd_error_give_back(const struct hd_sentence *kept);
/* HEDDLE_E_MEMORY, with what it was for. */
int hd_no_memory(const char *what) __attribute__((cold));

/* xoshiro256++: fast, good, and the same everywhere. */
struct hd_rng {
	uint64_t s[4];
};
void hd_rng_seed(struct hd_rng *rng, uint64_t seed);
uint64_t hd_rng_next(struct hd_rng *rng);
double hd_rng_uniform(struct hd_rng *rng); /* [0, 1) */
double hd_rng_normal(struct hd_rng *rng);  /* mean 0, deviation 1 */

static inline uint64_t hd_mix(uint64_t x) /* splitmix64's finaliser: a bijection that spreads every bit */
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9u;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}
static inline uint64_t hd_hash(uint64_t seed, uint64_t value)
{
	return hd_mix(seed * 0x9e3779b97f4a7c15u + value);
}
/* Cheaper, for values that are hashes themselves; order counts. */
static inline uint64_t hd_fold(uint64_t h, uint64_t hash)
{
	h = (h ^ hash) * 0x9e3779b97f4a7c15u;
	return h ^ (h >> 32);
}
/* us: 31 years. Past it sums of times lose microseconds, and products become infinite. */
#define HD_MOST_US 1e15

uint64_t hd_hash_string(const char *s);
uint64_t hd_hash_reals(const double *x, size_t n); /* bit by bit */

/* The first of n elements of `size` bytes, sorted by the uint64_t that each begins with, whose key is not below `key`;
 * n: none. */
size_t hd_search(const void *elements, size_t n, size_t size, uint64_t key);

/* A chunk of memory for many small things, free()d by its owner, and how large the next should be after one of `last`
 * bytes (0: the first). NULL when out of memory. */
size_t hd_chunk_size(size_t last);
void *hd_chunk_new(size_t size);
/* Pieces of chunks, which are given back all at once. All zero: empty. Not thread-safe. */
struct hd_arena {
	struct hd_chunk *chunks; /* owns; the newest first */
	size_t used, size;       /* bytes of the newest */
};
/* at most a cache line's. NULL when out of memory */
void *hd_arena_take(struct hd_arena *a, size_t size, size_t alignment);
void hd_arena_close(struct hd_arena *a);

/* "a b c", malloc'd. NULL when out of memory. */
char *hd_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whole file in memory, NUL-terminated, malloc'd. HEDDLE_E_IO. */
int hd_file_read(const char *path, char **data, size_t *length);
/* The same for files of our own: what is no regular file is refused, for reading a pipe or a device may never end, and
 * so is one of more than `most` bytes. */
int hd_file_read_regular(const char *path, size_t most, char **data, size_t *length);
int hd_file_is_special(const char *path); /* there, but a directory, pipe or device */
/* Writes a temporary beside `path` and renames it; symbolic links are followed, devices and pipes written directly. The
 * directory must be there: where a program or a user names a file, a new directory is more often a slip than a wish.
 * HEDDLE_E_IO. */
int hd_file_write(const char *path, const char *data, size_t length);
/* HEDDLE_E_IO for a file that could not be opened or written: the reason is in errno; a missing directory is named. */
int hd_file_cannot_write(const char *path);
/* Makes the directories that lie on the way to `path`, for files of our own. HEDDLE_E_IO. */
int hd_parents_make(const char *path);
/* Whether `name`, in a directory, is a temporary of hd_file_write that nobody will rename any more, since its process
 * was killed: how long the name of the file is that it was to become, otherwise 0. */
size_t hd_file_abandoned(const char *name);
/* $XDG_DATA_HOME/heddle or ~/.local/share/heddle, malloc'd; NULL when neither is set. */
char *hd_data_dir(void);

/* HEDDLE_<A>_<B>, for two names in any case, '-' being '_': HEDDLE_DADA_ALPHA for "dada", "alpha". */
enum { HD_VARIABLE = 128 };
void hd_variable_name(char name[HD_VARIABLE], const char *a, const char *b);
/* What it is set to. NULL: not set, or empty. */
const char *hd_variable(const char *a, const char *b);

/* 1 or 0 for a word that says yes or no, -1 for any other text; HD_BOOL_WORDS lists the words for messages. */
#define HD_BOOL_WORDS "0, 1, no, yes, false, true"
int hd_bool_parse(const char *text, size_t length);

/* How many slips of a typist lie between two words, in any case: a letter too many, missing, wrong, or two swapped.
 * SIZE_MAX for words of more than 64 letters. */
size_t hd_slips(const char *a, const char *b);
/* The candidate nearest to `word`, or NULL when none is near enough to have been meant. */
const char *hd_nearest(const char *word, const char *const *candidates, size_t n);

/* Monotonic clock, us. */
double hd_clock_us(void);

#endif
