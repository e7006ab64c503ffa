/* Reading a picture in SVG, a path at a time. */
#ifndef TEST_SVG_H
#define TEST_SVG_H

#include <string.h>

/* The text behind the first `what` between `from` and `end`; NULL if it is not there. */
static inline const char *behind(const char *from, const char *end, const char *what)
{
	const char *at = strstr(from, what);
	return at && at < end ? at + strlen(what) : NULL;
}

#endif
