/* xoshiro256++ (Blackman and Vigna), seeded by splitmix64; FNV-1a for strings. */
#include <math.h>
#include <string.h>
#include "base.h"

static uint64_t rotate(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

void hd_rng_seed(struct hd_rng *rng, uint64_t seed)
{
	for (int i = 0; i < 4; i++) {
		seed += 0x9e3779b97f4a7c15u;
		rng->s[i] = hd_mix(seed);
	}
}

uint64_t hd_rng_next(struct hd_rng *rng)
{
	uint64_t *s = rng->s;
	uint64_t result = rotate(s[0] + s[3], 23) + s[0];
	uint64_t t = s[1] << 17;
	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return result;
}

double hd_rng_uniform(struct hd_rng *rng)
{
	return (double)(hd_rng_next(rng) >> 11) * 0x1.0p-53;
}

double hd_rng_normal(struct hd_rng *rng)
{
	double u = 1.0 - hd_rng_uniform(rng); /* in (0, 1], so that its logarithm is finite */
	double v = hd_rng_uniform(rng);
	return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

uint64_t hd_hash_string(const char *s)
{
	uint64_t h = 0xcbf29ce484222325u;
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3u;
	return h;
}

uint64_t hd_hash_reals(const double *x, size_t n)
{
	uint64_t hash = n;
	for (size_t i = 0; i < n; i++) {
		uint64_t bits;
		memcpy(&bits, &x[i], sizeof bits);
		hash = hd_hash(hash, bits);
	}
	return hash;
}
