"""The layout of the counters file for calls of compiled graphs; its writer and its reader import this.

The file is int64 words in native byte order, in pages: a header, then one page for each counted callable (a
compiled graph, or the backward of one). All times are nanoseconds of the host, by `time.perf_counter_ns`.
"""

FORMAT_MARK = 0x4459_4341_4C4C_5333  # "DYCALLS3" in ASCII
FORMAT_MARKS = (FORMAT_MARK, FORMAT_MARK - 1)  # the version before timed every call; its other words are 0
PAGE_WORDS = 1024
PAGE_BYTES = 8 * PAGE_WORDS

# The header.
MARK = 0
LOST_RECORDS = 1  # records that could not be written
LAST_ERRNO = 2
PAGES_IN_USE = 3
OVERLAP_NS = 4  # time counted more than once in the totals: calls inside calls, or on several threads
COMPILING_NS = 7  # time in the totals in which Dynamo compiled another frame
CLOCK_NS, CLOCK_EPOCH_NS = 5, 6  # the same moment by perf_counter_ns and by time_ns

# A callable's page.
TOTAL_NS = 0
GUARD_NS, GUARD_SAMPLES = 1, 2  # the guards of its frame, evaluated beside some of its calls
SAMPLES = 3  # how many samples there are
EARLY = 4  # how many of the first calls are recorded one by one
DEVICE_NS, DEVICE_SAMPLES = 5, 6  # some of the calls, timed on the GPU's stream
RUNNING_SINCE = 7  # the start of the call that has not returned, the latest of several; else 0
RAISED = 8  # how many calls ended in an error
# Where calls are short, most are counted and not timed: how many of these have begun, and how many returned.
UNTIMED_BEGUN, UNTIMED = 9, 10
# Each timed call represents the untimed ones before it: how many calls are represented, and their time.
COVERED, COVERED_NS = 11, 12
LAST_TIMED_END = 13  # an untimed call that has not returned began later
# Buckets of a histogram of the durations of timed calls; `bucket_bounds` has the bounds. The sum of them and
# UNTIMED is the number of calls.
FIRST_BUCKET, LAST_BUCKET = 32, 519
# Samples, spread evenly over all calls: call number (from 1), begin, duration, time since the end of the
# previous call of any callable (-1: unknown, or something was compiled in between), page of that callable.
SAMPLES_BEGIN, SAMPLE_WORDS, SAMPLE_CAPACITY = 520, 5, 80
# The first calls: begin, duration.
EARLY_BEGIN, EARLY_WORDS, EARLY_CAPACITY = 920, 2, 52


def bucket_bounds(bucket: int) -> tuple[int, int]:
    """The bounds of a bucket: from, to (exclusive). There are eight buckets for each power of two.

    The bucket of a time t is `8 * bits + (t >> (bits - 4))`, where bits is the bit length of t, at least 4.
    """
    bits = max((bucket - 8) // 8, 4)
    low = (bucket - 8 * bits) << (bits - 4)
    return low, low + (1 << (bits - 4))
