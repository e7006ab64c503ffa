/* Environment variables, including those whose names are composed: HEDDLE_<POLICY>_<OPTION>. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include "base/base.h"

static char *append(char *to, const char *end, const char *name)
{
	for (; *name && to < end; name++)
		*to++ = *name == '-' ? '_' : (char)hd_upper(*name);
	return to;
}

void hd_variable_name(char name[HD_VARIABLE], const char *a, const char *b)
{
	static const char prefix[] = "HEDDLE_";
	const char *end = name + HD_VARIABLE - 2;
	memcpy(name, prefix, sizeof prefix);
	char *to = append(name + sizeof prefix - 1, end, a);
	*to++ = '_';
	to = append(to, end, b);
	*to = '\0';
}

const char *hd_variable(const char *a, const char *b)
{
	char name[HD_VARIABLE];
	hd_variable_name(name, a, b);
	const char *value = hd_getenv(name);
	return value && *value ? value : NULL;
}

const char *hd_getenv(const char *name)
{
	return secure_getenv(name);
}

int hd_getenv_is_trusted(void)
{
	return !getauxval(AT_SECURE);
}
