/* The words for yes and no. Settings, options of policies and files all use them. */
#include <string.h>
#include "base/base.h"

int hd_bool_parse(const char *text, size_t length)
{
	static const char *const words[] = {"0", "1", "no", "yes", "false", "true"};
	for (int i = 0; i < (int)(sizeof words / sizeof *words); i++)
		if (strlen(words[i]) == length && memcmp(words[i], text, length) == 0)
			return i % 2;
	return -1;
}
