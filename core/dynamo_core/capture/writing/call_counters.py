"""Count how often each compiled graph is called and for how long, in memory that outlives the process.

The counters are a file mapped into memory: a call costs a few writes and no system call, and whatever
ends the process (os._exit, a crash, kill -9) leaves them on disk as they were. The file's blocks are
reserved first, so that a disk that fills up later cannot fault the mapping. The file is read-only while it is
mapped: truncating it would end the process by SIGBUS (root can still do that; a system call for each count,
which nothing can fault, takes 7 times as long). However long a program runs, a callable has one page
(`call_pages.py`): a histogram of all its calls, the first calls, and some of the rest.

Reading the clock costs more than counting. Where half of a callable's calls take less than 20 µs, all are
counted, but only one in 16 to 61 is timed (more of the first ones), and represents those before it. A call
that overlaps another one, inside it or on another thread, is timed, and so are all later calls of its
callable: how much of their time is in two totals cannot be estimated.
"""

import ctypes
import mmap
import os
from collections.abc import Callable
from types import FrameType
from typing import Any

from ...shared.call_pages import (
    CLOCK_EPOCH_NS,
    CLOCK_NS,
    COMPILING_NS,
    COVERED,
    COVERED_NS,
    EARLY,
    EARLY_BEGIN,
    EARLY_CAPACITY,
    EARLY_WORDS,
    FIRST_BUCKET,
    FORMAT_MARK,
    LAST_BUCKET,
    LAST_ERRNO,
    LAST_TIMED_END,
    LOST_RECORDS,
    MARK,
    OVERLAP_NS,
    PAGE_BYTES,
    PAGE_WORDS,
    PAGES_IN_USE,
    RAISED,
    RUNNING_SINCE,
    SAMPLE_CAPACITY,
    SAMPLE_WORDS,
    SAMPLES,
    SAMPLES_BEGIN,
    TOTAL_NS,
    UNTIMED,
    UNTIMED_BEGUN,
)
from ..primitives import (
    O_CLOEXEC,
    O_EXCL,
    O_NOFOLLOW,
    O_RDWR,
    caller_frame,
    close,
    create_private,
    open_descriptor,
    perf_counter_ns,
    time_ns,
)
from ..printed_tracebacks import passes_through_us
from .file_size_limit import FileSizeSignalBlocked

PAGE_CAPACITY = 4096
_PAGES_AT_A_TIME = 8

_MODE_WHILE_MAPPED, _MODE_AT_THE_END = 0o400, 0o600

SHORT_NS = 20_000  # half of a short callable's calls take less
LONGEST_INTERVAL = 61  # from one timed call of a short callable to the next; a prime: programs are periodic

SampleGuards = Callable[[Any, FrameType], None]  # (the page's words, the frame that calls the graph)


class _Page:
    """The page of one callable; its words are replaced in a forked child, and if the file cannot be used."""

    __slots__ = ("index", "on_replaced", "words")

    def __init__(self, index: int, words: Any) -> None:
        self.index = index
        self.words = words
        self.on_replaced: Callable[[Any, bool], None] | None = None

    def replace(self, words: Any, in_new_process: bool = False) -> None:
        self.words = words
        if self.on_replaced is not None:
            self.on_replaced(words, in_new_process)


class CallCounters:
    """The counters of one process. `words` is the page of the file's header."""

    def __init__(self, open_stream: Callable[[], Any]) -> None:
        self._open_stream = open_stream
        self._path: str | None = None
        self._pages: list[_Page] = []
        self._mapped: list[Any] = []  # the pages of the file; the first one is the header
        self.words: Any = _UnopenedWords(self, lambda: self.words)
        self.last_compile_ns = 0
        self._count, self._is_in_call = self._make_counting()

    def open_file(self, path: str) -> None:
        """Map `path`, which must not exist; OSError where the file system cannot do that."""
        file = create_private(path, O_RDWR | O_EXCL, _MODE_WHILE_MAPPED)
        self._mapped = []
        try:
            while len(self._mapped) <= len(self._pages):
                self._grow(file)
        except OSError:
            os.unlink(path)
            raise
        finally:
            close(file)
        self._path = path
        self.words = self._mapped[0]
        self.words[CLOCK_NS], self.words[CLOCK_EPOCH_NS] = perf_counter_ns(), time_ns()
        self.words[PAGES_IN_USE] = len(self._pages)
        self.words[MARK] = FORMAT_MARK
        for page in self._pages:
            page.replace(self._mapped[page.index + 1])

    def _grow(self, file: int) -> None:
        begin = len(self._mapped) * PAGE_BYTES
        size = _PAGES_AT_A_TIME * PAGE_BYTES
        with FileSizeSignalBlocked():
            os.posix_fallocate(file, begin, size)
        words = _map_words(file, begin, size)
        self._mapped += [words[i * PAGE_WORDS : (i + 1) * PAGE_WORDS] for i in range(_PAGES_AT_A_TIME)]

    def keep_in_memory(self) -> None:
        """Count in memory that no reader sees: the program goes on, and the report says "not recorded"."""
        self._path = None
        self._mapped = []
        self.words = [0] * PAGE_WORDS
        for page in self._pages:
            page.replace([0] * PAGE_WORDS)

    def restart_after_fork(self) -> None:
        """Leave the file to the parent, in a forked child; its own is made when it counts something."""
        self._path = None
        self._mapped = []
        self.words = _UnopenedWords(self, lambda: self.words)
        for page in self._pages:
            page.replace(_unopened_words(self, page), in_new_process=True)

    def new_page(self) -> int | None:
        """The number of a new page for a callable, from 0; None where there can be no more."""
        index = len(self._pages)
        if index == PAGE_CAPACITY:
            return None
        if self._path is None:  # not open yet, or counting in memory
            self._pages.append(page := _Page(index, None))
            is_waiting = isinstance(self.words, _UnopenedWords)
            page.words = _unopened_words(self, page) if is_waiting else [0] * PAGE_WORDS
        else:
            try:
                self._map_up_to(index + 1)
            except OSError as error:  # the disk is full, say
                self.words[LAST_ERRNO] = error.errno or 0
                return None
            self._pages.append(_Page(index, self._mapped[index + 1]))
        self.words[PAGES_IN_USE] = len(self._pages)
        return index

    def _map_up_to(self, page: int) -> None:
        if page < len(self._mapped):
            return
        self.allow_writing()
        try:
            file = open_descriptor(str(self._path), O_RDWR | O_CLOEXEC | O_NOFOLLOW)
            try:
                self._grow(file)
            finally:
                close(file)
        finally:
            os.chmod(str(self._path), _MODE_WHILE_MAPPED)

    def allow_writing(self) -> None:
        """Make the file writable again, so that `rm` does not ask about it, when the process ends."""
        if self._path is not None:
            try:
                os.chmod(self._path, _MODE_AT_THE_END)
            except OSError:  # the recording was moved or removed
                pass

    def note_lost_record(self, errno: int) -> None:
        """Note, where no disk space is needed, that a record could not be written."""
        self.words[LOST_RECORDS] += 1
        self.words[LAST_ERRNO] = errno

    def note_compile(self, elapsed: int) -> None:
        """Note that Dynamo tried a frame: the time since the last call is not the program's own."""
        self.last_compile_ns = perf_counter_ns()
        if self._is_in_call():
            self.words[COMPILING_NS] += elapsed

    def counted(
        self,
        compiled: Callable[..., Any],
        page: int,
        sample_guards: SampleGuards | None = None,
        look: Callable[[Any], None] | None = None,
    ) -> Callable[..., Any]:
        """`compiled`, with its calls and the time in them counted on `page`.

        `sample_guards` is called after some of the calls, with the frame that made the call; `look` is called
        with the outputs of the first call.
        """
        return self._count(compiled, self._pages[page], sample_guards, look)

    def moment_marker(self, page_number: int) -> Callable[[], None]:
        """A function that notes the moment of each of its calls on a page, as a call that takes no time."""
        page = self._pages[page_number]
        sampler = _Sampler(self, page, None)
        sampler.time_every_call()
        until_sample = 1

        def note_moment() -> None:
            nonlocal until_sample
            page.words[FIRST_BUCKET] += 1
            until_sample -= 1
            if not until_sample:
                until_sample = sampler.sample(perf_counter_ns(), 0, -1, -1)

        return note_moment

    def words_of(self, page: int) -> Any:
        """The present words of a page, which are replaced in a forked child."""
        return self._pages[page].words

    def calls_of(self, page: int) -> int:
        """How often this process has called the callable of a page."""
        words = self._pages[page].words
        if isinstance(words, _UnopenedWords):
            return 0
        return int(words[UNTIMED] + sum(words[FIRST_BUCKET : LAST_BUCKET + 1]))

    def _make_counting(self) -> tuple[Callable[..., Callable[..., Any]], Callable[[], bool]]:
        """The function behind `counted`, and one that says whether a call is running.

        All callables of the process share the closure variables below. Statements between two Python calls
        are atomic: CPython switches threads in calls and jumps only.
        """
        now = perf_counter_ns
        running = 0  # calls that have not returned, on all threads
        busy_since = 0  # when the first of them began
        in_overlap = 0  # the time of calls that have ended while others ran
        last_end = 0  # 0 where the last call was not timed
        last_page = -1

        def settle_overlap(elapsed: int, end: int) -> None:
            nonlocal running, in_overlap
            if running > 0:
                in_overlap += elapsed
                return
            if running == 0:
                self.words[OVERLAP_NS] += in_overlap + elapsed - (end - busy_since)
            running = in_overlap = 0  # it is below 0 where this process was forked inside a call

        def count(
            compiled: Callable[..., Any],
            page: _Page,
            sample_guards: SampleGuards | None,
            look: Callable[[Any], None] | None,
        ) -> Callable[..., Any]:
            if look is not None:
                compiled_graph_itself = compiled

                def first_call(*args: Any) -> Any:
                    nonlocal compiled
                    compiled = compiled_graph_itself
                    outputs = compiled_graph_itself(*args)
                    look(outputs)
                    return outputs

                compiled = first_call
            index = page.index
            sampler = _Sampler(self, page, sample_guards)
            until_sample = 1  # timed calls up to the next sample
            begun = ended = 0  # calls that were not timed
            untimed_until = 0  # calls are not timed until `begun` reaches it

            words = page.words

            def use_words(new_words: Any, in_new_process: bool) -> None:
                nonlocal words, begun, ended, untimed_until
                words = new_words
                if in_new_process:
                    untimed_until -= begun
                    begun = ended = 0

            page.on_replaced = use_words

            def time_every_call() -> None:
                nonlocal until_sample, untimed_until
                sampler.time_every_call()
                until_sample, untimed_until = until_sample + untimed_until - begun, begun

            # Dynamo passes no keywords to what a backend returns (torch/_dynamo/codegen.py, 2.8 to 2.15).
            # Most calls of a short graph take the first branch only: hence closure variables, and no calls.
            def compiled_graph(*args: Any) -> Any:
                nonlocal running, busy_since, last_end, last_page, until_sample, untimed_until, begun, ended
                if begun < untimed_until and not running:
                    begun += 1
                    words[UNTIMED_BEGUN] = begun
                    last_end = 0
                    try:
                        return compiled(*args)
                    except BaseException:
                        words[RAISED] += 1
                        passes_through_us()
                        raise
                    finally:
                        ended += 1
                        words[UNTIMED] = ended
                        if last_end:  # a timed call has ended meanwhile
                            time_every_call()
                before, page_before = last_end, last_page
                words[RUNNING_SINCE] = start = now()
                if not running:
                    busy_since = start
                running += 1
                try:
                    return compiled(*args)
                except BaseException:
                    words[RAISED] += 1
                    passes_through_us()
                    raise
                finally:
                    end = now()
                    running -= 1
                    elapsed = end - start
                    words[RUNNING_SINCE] = 0
                    words[TOTAL_NS] += elapsed
                    bits = (elapsed | 8).bit_length()
                    words[(bits << 3) + (elapsed >> (bits - 4))] += 1  # call_pages.bucket_bounds
                    if running or in_overlap or begun < untimed_until:  # it overlaps, or did until just now
                        settle_overlap(elapsed, end)
                        time_every_call()
                    last_end, last_page = end, index
                    until_sample -= 1
                    if not until_sample:
                        until_sample = sampler.sample(start, elapsed, before, page_before)
                        if sampler.may_skip:
                            untimed_until, until_sample = begun + until_sample - 1, 1

            return compiled_graph

        return count, lambda: running > 0


class _Sampler:
    """Keeps the first calls of a callable and some of the others, evenly spread however many there are.

    For a short callable it is given more calls than it keeps: they represent the calls that are not timed.
    """

    def __init__(self, counters: CallCounters, page: _Page, sample_guards: SampleGuards | None) -> None:
        self._counters = counters
        self._page = page
        self._sample_guards = sample_guards
        self._number = 0  # of the last call that was given to `sample`
        self._stride = 1  # from one call that is kept to the next
        self._next = self._until_kept = 1  # counted from the last call that was given to `sample`
        self._untimed_before = 0
        self._times_every_call = False
        self.may_skip = False  # whether the calls up to the next sample need not be timed

    def time_every_call(self) -> None:
        """Time every call of this callable from now on."""
        self._times_every_call = True
        self.may_skip = False

    def sample(self, start: int, elapsed: int, before: int, page_before: int) -> int:
        """Note the call that has just ended; return after how many calls the next one is to be noted.

        For a short callable this is part of the cost of each call: hence one function, in which nothing is
        computed twice.
        """
        self._number += self._next
        self._until_kept -= self._next
        try:
            words = self._page.words
            words[LAST_TIMED_END] = start + elapsed
            ended = words[UNTIMED]
            untimed = ended - self._untimed_before
            self._untimed_before = ended
            # A call before which something was compiled represents no others.
            if untimed > 0 and self._counters.last_compile_ns < start:
                words[COVERED] += untimed
                words[COVERED_NS] += untimed * elapsed
            if not self._until_kept:
                self._keep(words, start, elapsed, before, page_before)
        except Exception:  # a forked child whose recording is gone, say: the program goes on
            pass
        until_kept = self._until_kept = self._until_kept or self._stride
        is_far = until_kept > LONGEST_INTERVAL and self.may_skip
        self._next = LONGEST_INTERVAL if is_far else until_kept
        return self._next

    def _keep(self, words: Any, start: int, elapsed: int, before: int, page_before: int) -> None:
        early = words[EARLY]
        if early < EARLY_CAPACITY and self._number == early + 1:
            at = EARLY_BEGIN + EARLY_WORDS * early
            words[at], words[at + 1] = start, elapsed
            words[EARLY] = early + 1
        is_known = self._counters.last_compile_ns < before
        since = start - before if is_known else -1
        self._store(words, (self._number, start, elapsed, since, page_before))
        if self._sample_guards is not None and self._number > 1:
            self._sample_guards(words, caller_frame(3))

    def _store(self, words: Any, sample: tuple[int, ...]) -> None:
        count = words[SAMPLES]
        if count == SAMPLE_CAPACITY:
            count //= 2
            words[SAMPLES] = 0  # if the process is killed now, a reader finds none rather than mixed-up ones
            for kept in range(count):
                to, from_ = (SAMPLES_BEGIN + SAMPLE_WORDS * i for i in (kept, 2 * kept))
                for word in range(SAMPLE_WORDS):
                    words[to + word] = words[from_ + word]
            self._stride *= 2
            kept_ns = [words[SAMPLES_BEGIN + SAMPLE_WORDS * i + 2] for i in range(count)]
            self.may_skip = sorted(kept_ns)[count // 2] < SHORT_NS and not self._times_every_call
        at = SAMPLES_BEGIN + SAMPLE_WORDS * count
        for word, value in enumerate(sample):
            words[at + word] = value
        words[SAMPLES] = count + 1


def _map_words(file: int, begin: int, size: int) -> memoryview:
    """The file's int64 words, shared with the disk. OSError where the file system cannot do that.

    Python's mmap keeps a duplicate of the descriptor, with a low number, and closes whatever has that number
    when it is freed: in a program that closes descriptors, another file. This mapping keeps no descriptor.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    address = libc.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, file, begin)
    if address == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "mmap failed")
    return memoryview((ctypes.c_int64 * (size // 8)).from_address(address)).cast("B").cast("q")


def _unopened_words(counters: CallCounters, page: _Page) -> "_UnopenedWords":
    return _UnopenedWords(counters, lambda: page.words)


class _UnopenedWords:
    """In place of a page's words until the process has a stream; the first use opens the stream."""

    def __init__(self, counters: CallCounters, current: Callable[[], Any]) -> None:
        self._counters = counters
        self._current = current

    def _opened(self) -> Any:
        if self._current() is self:
            try:
                self._counters._open_stream()
            except Exception:  # the recording is gone, say: the program goes on
                pass
        if self._current() is self:
            self._counters.keep_in_memory()
        return self._current()

    def __getitem__(self, word: int) -> int:
        return int(self._opened()[word])

    def __setitem__(self, word: int, value: int) -> None:
        self._opened()[word] = value
