/* Encodes names as file names and as YAML text. Names of codelets, classes and machines may contain any character; file
 * names and YAML may not. So names are written in printable ASCII, with %XX for other bytes, as in URLs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "base/text.h"
#include "perf/internal.h"

/* largest length of an encoded name in bytes: file systems allow 255, and names of temporaries and damaged files are
 * longer */
#define LONGEST 200

static int is_text(const char *at, const char *name)
{
	(void)name;
	return hd_name_is_plain(*at);
}

/* Characters that every file system allows and no shell expands; '.' only after the first. */
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

/* The name of a file or directory for `name`. Long names are cut and end in '~' and a hash; the empty name becomes "%".
 * No other name is encoded with '~' or as "%", so that different names give different files. */
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
