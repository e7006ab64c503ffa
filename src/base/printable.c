/* Output on terminals: texts without control characters. */
#include <stdlib.h>
#include <string.h>
#include "base.h"
#include "text.h"

/* Whether `c` points to a control character: C0 except line ends and tabulators, DEL, or C1 in UTF-8. */
static int is_control(const unsigned char *c)
{
	return (c[0] < 0x20 && c[0] != '\n' && c[0] != '\t') || c[0] == 0x7f || (c[0] == 0xc2 && c[1] < 0xa0);
}

void hd_printable(char *to, size_t size, const char *from)
{
	static const char digits[] = "0123456789abcdef";
	char *end = to + size - 1;
	while (*from) {
		size_t n = hd_utf8_length(from);
		if (n && !is_control((const unsigned char *)from)) {
			if ((size_t)(end - to) < n)
				break;
			memcpy(to, from, n);
			to += n;
			from += n;
			continue;
		}
		for (n = n ? n : 1; n && end - to >= 4; n--, from++) {
			unsigned char byte = (unsigned char)*from;
			memcpy(to, (char[]){'\\', 'x', digits[byte >> 4], digits[byte & 15]}, 4);
			to += 4;
		}
		if (n)
			break;
	}
	*to = '\0';
}

int hd_print(FILE *out, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = hd_print_args(out, format, args);
	va_end(args);
	return n;
}

int hd_print_args(FILE *out, const char *format, va_list args)
{
	char *text = hd_format_list(format, args);
	size_t size = text ? 4 * strlen(text) + 1 : 0;
	char *shown = text ? malloc(size) : NULL;
	if (shown)
		hd_printable(shown, size, text);
	int n = shown ? fputs(shown, out) : -1;
	free(shown);
	free(text);
	return n;
}
