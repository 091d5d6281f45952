"""The script of a worker process of `pool.py`: it takes one task after another and answers.

Only the standard library and cloudpickle are imported here; the rest comes with the tasks.
"""

import contextlib
import os
import pickle
import signal
import stat
import struct
import sys
import traceback
from queue import SimpleQueue
from threading import Thread
from typing import IO

LENGTH = struct.Struct("!Q")
STOP = b""


def send(channel: IO[bytes], message: bytes) -> None:
    channel.write(LENGTH.pack(len(message)))
    channel.write(message)
    channel.flush()


def receive(channel: IO[bytes]) -> bytes:
    """The next message; EOFError where the other side is gone."""
    return _exactly(channel, LENGTH.unpack(_exactly(channel, LENGTH.size))[0])


def _exactly(channel: IO[bytes], size: int) -> bytes:
    data = channel.read(size)
    if len(data) < size:
        raise EOFError
    return data


def main() -> None:
    # Ctrl-C reaches every process of the terminal, but the parent decides. A handler, unlike SIG_IGN, is not inherited
    # by the programs that a task starts: they end.
    signal.signal(signal.SIGINT, lambda *_: None)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    tasks, answers = _channels()
    sys.path[:] = pickle.loads(receive(tasks))
    waiting: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_listen, args=(tasks, waiting), daemon=True).start()
    while task := waiting.get():
        answer = _answer(task)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):  # there may be none, or nobody who reads it
                stream.flush()
        send(answers, answer)
        del task, answer


def _channels() -> tuple[IO[bytes], IO[bytes]]:
    """For tasks and answers: standard input, where that is a socket, else standard input and output. Both are put out
    of reach of what the tasks read and print."""
    while (nothing := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass  # one that is closed: a channel must not get its number
    tasks = os.dup(0)
    if stat.S_ISSOCK(os.fstat(0).st_mode):
        answers = tasks
    else:
        answers = os.dup(1)
        os.dup2(2, 1)
    os.dup2(nothing, 0)
    if hasattr(os, "register_at_fork"):  # the parent sees this process end although one forked from it goes on
        os.register_at_fork(after_in_child=lambda: [os.dup2(nothing, tasks), os.dup2(nothing, answers)])
    return os.fdopen(tasks, "rb", closefd=False), os.fdopen(answers, "wb", closefd=False)


def _listen(tasks: IO[bytes], waiting: SimpleQueue[bytes]) -> None:
    """Reads also while a task is at work, to notice when the parent is gone."""
    message = None
    while message != STOP:
        try:
            message = receive(tasks)
        except (EOFError, OSError):
            os._exit(1)
        waiting.put(message)


def _answer(task: bytes) -> bytes:
    """Pickled: true and the result, or false, the exception with its cause, and the traceback."""
    import cloudpickle

    try:
        return bytes(cloudpickle.dumps((True, pickle.loads(task)())))
    except BaseException as error:
        return pickle.dumps((False, *packed(error)))


def packed(error: BaseException) -> tuple[list[tuple[bytes, str]], str]:
    """The exception with its cause, and the traceback."""
    chain = [_packed(one) for one in (error, error.__cause__) if one is not None]
    return chain, "".join(traceback.format_exception(error))


def _packed(error: BaseException) -> tuple[bytes, str]:
    """The exception, and what to say if it cannot be sent or rebuilt."""
    import cloudpickle

    try:
        data = bytes(cloudpickle.dumps(error))
    except Exception:
        data = b""
    return data, "".join(traceback.format_exception_only(error)).strip()


if __name__ == "__main__":
    main()
