/*
 * CombUCB1 on the grid-path problem, tuned by hand: the program against which the simulation engine is measured.
 *
 *     cc -O3 -march=native -mprefer-vector-width=512 -ffast-math -DB=32 grid_lanes.c -o grid_lanes -lm
 *     ./grid_lanes M ROUNDS [SIGMA [SEED]]
 *
 * B runs are played side by side. Every array has the run as its last index, so that one instruction works on the same
 * edge of several runs. A score is mean + radius * width, with the width 1/sqrt(count) kept beside the mean; both come
 * from tables of 1/n and 1/sqrt(n), so that no run divides or takes a root. A round solves the grid backward, then walks
 * from the source: each run its own way, gathering the edge it takes and scattering what it has learned of it.
 *
 * Only the rounds are timed. Prints one line of JSON: nanoseconds per round and run, and the regret (mean and standard
 * error over the runs).
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef B
#define B 32
#endif

/* Runs do not depend on each other. The walk with gathers is gcc's best; clang's is faster one run after the other. */
#if defined(__clang__)
#define LANES _Pragma("clang loop vectorize(assume_safety)")
#define WALK_LANES _Pragma("clang loop vectorize(disable)")
#else
#define LANES _Pragma("GCC ivdep")
#define WALK_LANES LANES
#endif

#define ALPHA 1.5

/*
 * Node (row, column) is row * side + column. Its edge down is edge 2 * node, its edge to the right 2 * node + 1.
 * What belongs to an edge or a node of a run is found at [edge * B + run] or [node * B + run]; flat arrays with 32-bit
 * indices, since those are what compilers turn into gathers.
 */
static int m, side;

static double *restrict mean;         /* by edge and run */
static double *restrict width;        /* by edge and run: 1/sqrt(count) */
static int32_t *restrict count;       /* by edge and run */
static double *restrict value;        /* by node and run: the best total from there to the lower right corner */
static double *restrict advantage;    /* by node and run: how much better it is to go right than down */
static uint32_t *restrict threshold;  /* by edge: a random word below it is a weight of 1 */
static int32_t *restrict off_optimum; /* by edge: 1 where taking it costs sigma */
static double *restrict reciprocal;   /* 1/n */
static double *restrict root;         /* 1/sqrt(n) */

static uint64_t rng_a[B], rng_b[B]; /* xoroshiro128+, one generator per run */

static inline uint64_t rotate(uint64_t x, int k) { return x << k | x >> (64 - k); }

static inline uint64_t next_word(int run)
{
    uint64_t a = rng_a[run], b = rng_b[run], word = a + b;
    b ^= a;
    rng_a[run] = rotate(a, 24) ^ b ^ (b << 16);
    rng_b[run] = rotate(b, 37);
    return word;
}

/* splitmix64, which fills the generators' states. */
static uint64_t seed_word(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static void *zeros(size_t bytes)
{
    size_t padded = (bytes + 63) / 64 * 64;
    void *memory = aligned_alloc(64, padded);
    if (memory == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return memset(memory, 0, padded);
}

static void prepare(double sigma, int rounds, uint64_t seed)
{
    int nodes = side * side, edges = 2 * nodes;
    mean = zeros(sizeof *mean * edges * B);
    width = zeros(sizeof *width * edges * B);
    count = zeros(sizeof *count * edges * B);
    value = zeros(sizeof *value * nodes * B);
    advantage = zeros(sizeof *advantage * nodes * B);
    threshold = zeros(sizeof *threshold * edges);
    off_optimum = zeros(sizeof *off_optimum * edges);
    reciprocal = zeros(sizeof *reciprocal * (rounds + 2));
    root = zeros(sizeof *root * (rounds + 2));

    for (int n = 1; n < rounds + 2; n++) {
        reciprocal[n] = 1.0 / n;
        root[n] = 1.0 / sqrt(n);
    }
    for (int run = 0; run < B; run++) {
        rng_a[run] = seed_word(&seed);
        rng_b[run] = seed_word(&seed);
    }
    for (int edge = 0; edge < edges; edge++) {
        int row = edge / 2 / side, column = edge / 2 % side, right = edge % 2;
        int good = right ? row == m : column == 0; /* the best path runs down the left side and along the bottom */
        threshold[edge] = (uint32_t)((good ? 0.5 + sigma / 2 : 0.5 - sigma / 2) * 4294967296.0);
        off_optimum[edge] = !good;
    }
}

/* The best total from every node, and which way it begins, for all runs. */
static inline void solve(double radius)
{
    for (int row = m; row >= 0; row--)
        for (int column = row == m ? m - 1 : m; column >= 0; column--) {
            int node = row * side + column;
            double *restrict v = value + node * B, *restrict better = advantage + node * B;
            const double *below = v + side * B, *beside = v + B;
            const double *mean_down = mean + 2 * node * B, *mean_right = mean_down + B;
            const double *width_down = width + 2 * node * B, *width_right = width_down + B;
            if (row == m) {
                LANES for (int run = 0; run < B; run++)
                {
                    v[run] = mean_right[run] + radius * width_right[run] + beside[run];
                    better[run] = 1.0;
                }
            } else if (column == m) {
                LANES for (int run = 0; run < B; run++)
                {
                    v[run] = mean_down[run] + radius * width_down[run] + below[run];
                    better[run] = -1.0;
                }
            } else {
                LANES for (int run = 0; run < B; run++)
                {
                    double down = mean_down[run] + radius * width_down[run] + below[run];
                    double right = mean_right[run] + radius * width_right[run] + beside[run];
                    better[run] = right - down;
                    v[run] = right > down ? right : down;
                }
            }
        }
}

/*
 * The paper's Init: paths with as many unseen edges as possible, until there is none. Of an edge that is seen again only
 * the newest weight stays. The choice does not depend on the weights, so it is the same in all runs. Returns the number
 * of rounds.
 */
static int initialise(int rounds, int64_t *restrict lost)
{
    int edges = 2 * side * side, round = 0;
    double *restrict newest = zeros(sizeof *newest * edges * B);
    for (int i = 0; i < edges * B; i++)
        mean[i] = 1.0; /* while it lasts, the weight by which an edge is chosen: 1 if unseen */
    for (solve(0.0); round < rounds && value[0] > 0.0; solve(0.0), round++)
        for (int step = 0, node = 0; step < 2 * m; step++) {
            int right = advantage[node * B] >= 0.0, edge = 2 * node + right;
            for (int run = 0; run < B; run++) {
                newest[edge * B + run] = next_word(run) >> 32 < threshold[edge];
                mean[edge * B + run] = 0.0;
                lost[run] += off_optimum[edge];
            }
            node += right ? 1 : side;
        }
    for (int i = 0; i < edges * B; i++) {
        mean[i] = newest[i];
        width[i] = 1.0;
        count[i] = 1;
    }
    free(newest);
    return round;
}

/* Every run walks its best path, observes the edges on it, and counts those that cost regret. */
static inline void walk(int64_t *restrict lost)
{
    int32_t node[B] = {0}, lost_now[B] = {0};
    for (int pair = 0; pair < m; pair++) {
        uint64_t word[B]; /* enough for two edges */
        for (int run = 0; run < B; run++)
            word[run] = next_word(run);
        for (int half = 0; half < 2; half++) {
            WALK_LANES for (int run = 0; run < B; run++)
            {
                int32_t right = advantage[node[run] * B + run] >= 0.0;
                int32_t edge = 2 * node[run] + right;
                int32_t at = edge * B + run;
                double weight = (uint32_t)(word[run] >> (32 * half)) < threshold[edge] ? 1.0 : 0.0;
                int32_t n = count[at] + 1;
                double old = mean[at];
                count[at] = n;
                mean[at] = old + (weight - old) * reciprocal[n];
                width[at] = root[n];
                lost_now[run] += off_optimum[edge];
                node[run] += right ? 1 : side;
            }
        }
    }
    for (int run = 0; run < B; run++)
        lost[run] += lost_now[run];
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s M ROUNDS [SIGMA [SEED]]\n", argv[0]);
        return 2;
    }
    m = atoi(argv[1]);
    side = m + 1;
    int rounds = atoi(argv[2]);
    double sigma = argc > 3 ? atof(argv[3]) : 0.2;
    prepare(sigma, rounds, argc > 4 ? strtoull(argv[4], NULL, 10) : 1);

    int64_t lost[B] = {0};
    double start = seconds();
    for (int round = initialise(rounds, lost) + 1; round <= rounds; round++) {
        solve(sqrt(ALPHA * log(round - 1)));
        walk(lost);
    }
    double taken = seconds() - start;

    double sum = 0.0, squares = 0.0;
    for (int run = 0; run < B; run++)
        sum += sigma * lost[run];
    double regret = sum / B;
    for (int run = 0; run < B; run++)
        squares += (sigma * lost[run] - regret) * (sigma * lost[run] - regret);
    double error = B > 1 ? sqrt(squares / (B - 1) / B) : 0.0;
    printf("{\"m\": %d, \"runs\": %d, \"rounds\": %d, \"ns\": %.3f, \"regret\": %.2f, \"error\": %.2f}\n", m, B, rounds,
           taken / rounds / B * 1e9, regret, error);
    return 0;
}
