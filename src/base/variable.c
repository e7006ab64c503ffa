/* Variables of the environment that are named after two things. */
#include <ctype.h>
#include <stdlib.h>
#include "base/base.h"

static char *append(char *to, const char *end, const char *name)
{
	for (; *name && to < end; name++)
		*to++ = *name == '-' ? '_' : (char)toupper((unsigned char)*name);
	return to;
}

const char *hd_variable(const char *a, const char *b)
{
	char name[128] = "HEDDLE_";
	const char *end = name + sizeof name - 2;
	char *to = append(name + sizeof "HEDDLE_" - 1, end, a);
	*to++ = '_';
	to = append(to, end, b);
	*to = '\0';
	const char *value = getenv(name);
	return value && *value ? value : NULL;
}
