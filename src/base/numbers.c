/* Conversion of numbers with a decimal point, whatever the program's locale; case conversion in ASCII. */
#define _GNU_SOURCE
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include "base.h"

/* The locale "C". It is never freed, because the C libraries allocate no memory for it. */
static locale_t c_locale(void)
{
	return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double hd_real(const char *text, char **end)
{
	return strtod_l(text, end, c_locale());
}

int hd_print_list(char *buffer, size_t size, const char *format, va_list args)
{
	locale_t before = uselocale(c_locale());
	int n = vsnprintf(buffer, size, format, args);
	uselocale(before);
	return n;
}

int hd_print_into(char *buffer, size_t size, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int n = hd_print_list(buffer, size, format, args);
	va_end(args);
	return n;
}

char *hd_format_list(const char *format, va_list args)
{
	char *out = NULL;
	locale_t before = uselocale(c_locale());
	int n = vasprintf(&out, format, args);
	uselocale(before);
	return n < 0 ? NULL : out;
}

char *hd_format(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char *out = hd_format_list(format, args);
	va_end(args);
	return out;
}

int hd_upper(int c)
{
	return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c;
}

int hd_lower(int c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}
