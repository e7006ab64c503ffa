/* Small helpers: environment, clock, checksums, sleep. */
#include "internal.h"

char *starpu_getenv(const char *name)
{
	return getenv(name);
}

int starpu_get_env_number(const char *name)
{
	return starpu_get_env_number_default(name, -1);
}

int starpu_get_env_number_default(const char *name, int value)
{
	const char *text = getenv(name);
	char *end;
	if (!text || !*text)
		return value;
	long number = strtol(text, &end, 10);
	return *end ? value : (int)number;
}

float starpu_get_env_float_default(const char *name, float value)
{
	const char *text = getenv(name);
	return text && *text ? strtof(text, NULL) : value;
}

double starpu_timing_now(void)
{
	struct timespec now;
	if (hd_starpu_virtual && hd_starpu_runtime)
		return heddle_now(hd_starpu_runtime);
	clock_gettime(CLOCK_MONOTONIC, &now);
	return starpu_timing_timespec_to_us(&now);
}

double starpu_timing_timespec_to_us(struct timespec *time)
{
	return (double)time->tv_sec * 1e6 + (double)time->tv_nsec / 1e3;
}

double starpu_timing_timespec_delay_us(struct timespec *start, struct timespec *end)
{
	return starpu_timing_timespec_to_us(end) - starpu_timing_timespec_to_us(start);
}

uint32_t starpu_hash_crc32c_be_n(const void *bytes, size_t n, uint32_t crc)
{
	const unsigned char *b = bytes;
	for (size_t i = 0; i < n; i++) {
		crc ^= (uint32_t)b[i] << 24;
		for (int bit = 0; bit < 8; bit++)
			crc = crc << 1 ^ (crc >> 31 ? 0x1edc6f41u : 0);
	}
	return crc;
}

uint32_t starpu_hash_crc32c_be(uint32_t word, uint32_t crc)
{
	return starpu_hash_crc32c_be_n(&word, sizeof word, crc);
}

uint32_t starpu_hash_crc32c_string(const char *text, uint32_t crc)
{
	return starpu_hash_crc32c_be_n(text, strlen(text), crc);
}

void starpu_usleep(float us)
{
	struct timespec time = {(time_t)(us / 1e6f), 0};
	time.tv_nsec = (long)(((double)us - (double)time.tv_sec * 1e6) * 1e3);
	nanosleep(&time, NULL);
}

void starpu_sleep(float seconds)
{
	starpu_usleep(seconds * 1e6f);
}
