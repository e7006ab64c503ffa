/* What `heddle tune` tries: an application with other tiles, trees, inner blockings and priorities, all of which are
 * set by the names of its options. */
#ifndef HD_SHARED_TUNE_VARIANTS_H
#define HD_SHARED_TUNE_VARIANTS_H

#include "workload.h"

/* Works that differ in their options alone; a list of zeros is empty. The caller frees `list`. */
struct variants {
	struct work *list; /* owns */
	size_t n, room;
};

/* Adds a variant, unless it is there. */
void variants_add(struct variants *v, const struct work *work);
/* Adds the work with another value of an option, if this may be its value. */
void variants_add_with(struct variants *v, const struct work *work, const char *name, const char *value);
/* Whether an option was given, on the command line or behind the application's name. */
int variants_is_given(const struct work *work, const char *name);
/* Whether an option changes what the application does: `inner` and `tree` are for QR alone. */
int variants_matters(const struct work *work, const char *name);
/* Writes the value of an option as text of at most `size` bytes; "-": the option does not matter. */
void variants_text(const struct work *work, const char *name, char *text, size_t size);
/* Returns the value of an option as a number; NAN: the option does not matter, or the value is not above 0. */
double variants_number(const struct work *work, const char *name);

/* Adds the work with several tiles, inner blockings and trees; an option that the user gave keeps its value. Returns
 * the largest tile that may be tried. */
size_t variants_of_tiles(struct variants *v, const struct work *work, const struct heddle_platform *platform);
/* Adds `best` with tiles about its own, none larger than `most`, unless the tile was given. */
void variants_about(struct variants *v, const struct work *best, size_t most);
/* Adds each variant with each kind of priorities, unless the user gave this option. */
void variants_of_priorities(struct variants *v);

#endif
