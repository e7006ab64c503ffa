/* Text that is drawn goes through the test: as in tests/wrapped.h. */
#ifndef TEST_SHOWN_TEXT_H
#define TEST_SHOWN_TEXT_H

#include <cairo.h>

void __real_cairo_show_text(cairo_t *cr, const char *text);
void __wrap_cairo_show_text(cairo_t *cr, const char *text);

#endif
