/* Basic services of every room: errors, random numbers, hashing, files, time. Their only state: each thread's last
 * error. */
#ifndef HD_BASE_BASE_H
#define HD_BASE_BASE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <heddle/status.h>

#define HD_VERSION "0.1.0" /* Heddle's version, as in CMakeLists.txt */
#define HD_CACHE_LINE 64
enum { HD_NODE_BITS = 64 }; /* a set of memory nodes is a 64-bit word: node i is bit i % HD_NODE_BITS */
#define HD_LIKELY(x) __builtin_expect(!!(x), 1)
#define HD_UNLIKELY(x) __builtin_expect(!!(x), 0)
static inline size_t hd_round_up(size_t size, size_t step)
{
	return (size + step - 1) / step * step;
}

/* Sets the message that heddle_last_error returns in this thread. Returns `status`, for `return hd_error(...)`. */
int hd_error(int status, const char *format, ...) __attribute__((format(printf, 2, 3), cold));
/* Puts the formatted text and ": " before the thread's message, and sets the thread's status. Returns `status`. */
int hd_error_context(int status, const char *format, ...) __attribute__((format(printf, 2, 3), cold));
/* Sets the message for the failure of a task. `code`: what the task's kernel returned, or the code with which the
 * task's event was fulfilled; 0: there is no code. */
int hd_error_of_task(int status, int code, const char *sentence) __attribute__((cold));
/* hd_error_keep and hd_error_give_back stand at the beginning and the end of a function that succeeds although some of
 * its calls may fail: they save and restore the thread's last error, so that heddle_last_error always describes the
 * last public call that failed. */
struct hd_sentence {
	int status;
	int code; /* what heddle_last_code returns */
	char text[1024];
};
void hd_error_keep(struct hd_sentence *kept);
void hd_error_give_back(const struct hd_sentence *kept);
/* Clears the thread's last error, so that an error found later must be of a later call. */
void hd_error_clear(void);
/* The status of the thread's last error. */
int hd_error_status(void);
/* Sets the message "out of memory for WHAT"; returns HEDDLE_E_MEMORY. */
int hd_no_memory(const char *what) __attribute__((cold));

/* Random numbers by xoshiro256++: the same sequence on every machine. */
struct hd_rng {
	uint64_t s[4];
};
void hd_rng_seed(struct hd_rng *rng, uint64_t seed);
uint64_t hd_rng_next(struct hd_rng *rng);
double hd_rng_uniform(struct hd_rng *rng); /* [0, 1) */
double hd_rng_normal(struct hd_rng *rng);  /* mean 0, standard deviation 1 */

/* splitmix64's finaliser: a bijection in which each bit of x changes about half of the result's bits */
static inline uint64_t hd_mix(uint64_t x)
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
/* Combines the hash `h` of a sequence with the hash of its next element. Cheaper than hd_hash, which also mixes the
 * bits of a value that is no hash. */
static inline uint64_t hd_fold(uint64_t h, uint64_t hash)
{
	h = (h ^ hash) * 0x9e3779b97f4a7c15u;
	return h ^ (h >> 32);
}
/* The longest time that is accepted, us: 31 years. Sums of longer ones would lose microseconds, products overflow. */
#define HD_MOST_US 1e15

uint64_t hd_hash_string(const char *s);
uint64_t hd_hash_reals(const double *x, size_t n); /* hashes the bits, so 0 and -0 differ */

/* Binary search in an array of n elements of `size` bytes. Each element begins with a key of type uint64_t; the array
 * is sorted by these keys. Returns the index of the first element whose key is at least `key`; n: there is none. */
size_t hd_search(const void *elements, size_t n, size_t size, uint64_t key);

/* hd_chunk_new allocates a chunk of `size` bytes for many small objects; the caller frees the chunk with free(). NULL:
 * out of memory. hd_chunk_size: how large to make the chunk that follows one of `last` bytes (0: the first chunk). */
size_t hd_chunk_size(size_t last);
void *hd_chunk_new(size_t size);
/* An arena: pieces of memory that are freed all at once. An arena of zeros is empty. Not thread-safe. */
struct hd_arena {
	struct hd_chunk *chunks; /* owns; the newest first */
	size_t used, size;       /* of the newest chunk, in bytes: the part in use, and the whole */
};
/* Takes a piece of `size` bytes; `alignment` is at most HD_CACHE_LINE. NULL: out of memory. */
void *hd_arena_take(struct hd_arena *a, size_t size, size_t alignment);
void hd_arena_close(struct hd_arena *a);

/* strtod, snprintf and vsnprintf, but with a decimal point, whatever the program's locale. */
double hd_real(const char *text, char **end);
int hd_print_into(char *buffer, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int hd_print_list(char *buffer, size_t size, const char *format, va_list args) __attribute__((format(printf, 3, 0)));
/* asprintf and vasprintf with a decimal point. The caller frees the string. NULL: out of memory. */
char *hd_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *hd_format_list(const char *format, va_list args) __attribute__((format(printf, 1, 0)));
/* Copies the text `from` to `to`, which has room for `size` bytes, for output on a terminal. Control characters, except
 * line ends and tabulators, and bytes that are not UTF-8 become \xNN. A text that does not fit is cut. */
void hd_printable(char *to, size_t size, const char *from);
/* fprintf for people: numbers have a decimal point, and hd_printable replaces control characters. Negative: it
 * failed. */
int hd_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
int hd_print_args(FILE *out, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/* The upper-case and lower-case letter in ASCII, whatever the locale; other characters are returned unchanged. */
int hd_upper(int c);
int hd_lower(int c);

/* Reads a whole regular file or pipe of at most HD_FILE_MOST bytes into *data, which the caller frees; a NUL follows
 * the *length bytes. HEDDLE_E_IO, HEDDLE_E_MEMORY. */
#define HD_FILE_MOST ((size_t)4 << 30)
int hd_file_read(const char *path, char **data, size_t *length);
/* Reads a whole file that Heddle itself has written. Refuses a file of more than `most` bytes, and whatever is not a
 * regular file, because reading a pipe or a device may never end. */
int hd_file_read_regular(const char *path, size_t most, char **data, size_t *length);
int hd_file_is_special(const char *path); /* 1: `path` exists, and is a directory, pipe or device */
/* Replaces the file `path` atomically: writes a temporary file beside it, then renames the temporary file to `path`.
 * The new file has the mode of the old one, and its owner and group as far as the process may set them, but not its
 * access lists and extended attributes. Symbolic links are followed. A device, a pipe, a file with several hard links,
 * and a symbolic link whose target is missing are written directly, not atomically. The directory must exist: a missing
 * one is more often misspelt than meant. HEDDLE_E_IO. */
int hd_file_write(const char *path, const char *data, size_t length);
/* Makes the message that `path` could not be opened or written, with errno as the reason; if the directory is missing,
 * the message says so. Returns HEDDLE_E_IO. */
int hd_file_cannot_write(const char *path);
/* Makes the missing directories above `path`. Only for files whose place Heddle chooses. HEDDLE_E_IO. */
int hd_parents_make(const char *path);
/* Whether `name` is the name of a temporary file that hd_file_write left because its process was killed. If so, returns
 * how many of the first characters of `name` are the name of the file that was to be replaced; otherwise 0. */
size_t hd_file_abandoned(const char *name);
/* Returns $XDG_DATA_HOME/heddle or ~/.local/share/heddle, which the caller frees; NULL: neither variable is set. */
char *hd_data_dir(void);
/* *folder: the folder of the shared library (*is_library 1), or of the program that is linked with the static library
 * (0); the caller frees it; NULL: it cannot be found out. HEDDLE_E_MEMORY. */
int hd_own_folder(char **folder, int *is_library);
/* Returns $XDG_CACHE_HOME/heddle or ~/.cache/heddle, for files that can be made again; the caller frees it; NULL:
 * neither variable is set. */
char *hd_cache_dir(void);

/* Writes the name of the environment variable HEDDLE_<A>_<B> in capitals, with '_' for '-': HEDDLE_DADA_ALPHA for
 * "dada", "alpha". */
enum { HD_VARIABLE = 128 };
void hd_variable_name(char name[HD_VARIABLE], const char *a, const char *b);
/* The value of the environment variable HEDDLE_<A>_<B>; NULL: it is not set, or empty. */
const char *hd_variable(const char *a, const char *b);
/* The value of an environment variable; NULL: it is not set, or the environment is not to be trusted.
 * hd_getenv_is_trusted is 0 if the program has more rights than its caller (setuid, setgid, capabilities): then the
 * caller's variables must not say which files are used. */
const char *hd_getenv(const char *name);
int hd_getenv_is_trusted(void);

/* hd_bool_parse returns 1 for a word that means yes, 0 for one that means no, -1 for any other text. HD_BOOL_WORDS
 * lists the words for messages. */
#define HD_BOOL_WORDS "0, 1, no, yes, false, true"
int hd_bool_parse(const char *text, size_t length);

/* The number of typing errors by which two words differ, ignoring case: an extra letter, a missing one, a wrong one, or
 * two swapped neighbours. SIZE_MAX if a word has more than 64 letters. */
size_t hd_slips(const char *a, const char *b);
/* The candidate most similar to `word`; NULL: no candidate is so similar that the user can have meant it. */
const char *hd_nearest(const char *word, const char *const *candidates, size_t n);

/* The monotonic clock, us. */
double hd_clock_us(void);

#endif
