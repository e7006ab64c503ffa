/* Encodes names for file names and for YAML. Names of codelets, classes and machines may contain any byte; file names
 * and YAML may not. So they are written in printable ASCII, with %XX for each other byte, as in URLs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "base/text.h"
#include "perf/internal.h"

/* the most bytes of an encoded name: file systems allow 255, and the names of temporary and of damaged files are
 * longer */
#define LONGEST 200

static int is_text(const char *at, const char *name)
{
	(void)name;
	return hd_name_is_plain(*at);
}

/* Whether every file system allows the character, and no shell expands it; '.' only after the first character. */
static int is_file_text(const char *at, const char *name)
{
	return (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9') ||
	       (*at == '.' && at != name) || strchr("_-+=@,", *at) != NULL;
}

static char *encode(const char *name, int (*is_plain)(const char *at, const char *name))
{
	char *out = malloc(3 * strlen(name) + 1), *to = out;
	if (!out)
		return NULL;
	for (const char *at = name; *at; at++)
		if (is_plain(at, name))
			*to++ = *at;
		else
			to += sprintf(to, "%%%02X", (unsigned)(unsigned char)*at);
	*to = '\0';
	return out;
}

char *hd_perf_name_encode(const char *name)
{
	return encode(name, is_text);
}

/* Returns a name for the file or directory of `name`. A long name is cut and ends in '~' and a hash; the empty name
 * becomes "%". No other name is encoded with a '~' or as "%", so different names have different files. */
char *hd_perf_name_component(const char *name)
{
	char *text = *name ? encode(name, is_file_text) : strdup("%");
	if (!text || strlen(text) <= LONGEST)
		return text;
	char *shortened = hd_format("%.*s~%016llx", LONGEST - 17, text, (unsigned long long)hd_hash_string(name));
	free(text);
	return shortened;
}

char *hd_perf_name_file(const char *dir, const char *codelet)
{
	char *component = hd_perf_name_component(codelet);
	char *path = component ? hd_format("%s/%s.yaml", dir, component) : NULL;
	free(component);
	return path;
}
