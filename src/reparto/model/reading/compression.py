"""Bytes of a file, decompressed if they are gzip: told by their magic number, not by the name, and within bounds."""

import os
import stat
import zlib
from collections.abc import Iterator
from io import BufferedReader
from typing import BinaryIO

from reparto.model.reading.limits import MAX_BYTES

GZIP = b"\x1f\x8b"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
CHUNK = 1 << 18
MAX_MEMBERS = 50_000  # bgzip makes one for each 64 kB; a file of millions of empty ones would keep us busy for nothing


class Unreadable(Exception):
    """Bytes that are no text we read: `message` says what they are, `hint` what to do, `line` where (0: the whole file)."""

    def __init__(self, message: str, hint: str = "", line: int = 0) -> None:
        super().__init__(message)
        self.message, self.hint, self.line = message, hint, line


def contents(stream: BinaryIO) -> bytes:
    """All of `stream`, gunzipped where it is gzip (of several members, too).

    Raises Unreadable for more than MAX_BYTES, for NUL bytes (binary data) and for damaged gzip. A gzip bomb ends at the limit or,
    being mostly zeros, at its first chunk.
    """
    first = stream.read(max(_whole(stream), CHUNK))
    kept: list[bytes] = []
    size = 0
    for chunk in _inflated(first, stream) if first.startswith(GZIP) else _plain(first, stream):
        if b"\0" in chunk and not (kept or [chunk])[0].startswith(UTF_16):  # UTF-16 has a message of its own
            line = sum(part.count(b"\n") for part in kept) + chunk.count(b"\n", 0, chunk.index(b"\0")) + 1
            raise Unreadable("binary data, not text: it contains a NUL byte", "give YAML or JSON, plain or gzip-compressed", line)
        kept.append(chunk)
        size += len(chunk)
        if size > MAX_BYTES:
            raise Unreadable(f"more than {MAX_BYTES >> 30} GiB", "split the dump, for example one file for each kind")
    return kept[0] if len(kept) == 1 else b"".join(kept)


def _whole(stream: BinaryIO) -> int:
    """How much to read so that a plain file comes in one piece, without a second copy in memory; 0 where that is not to be had."""
    if not isinstance(stream, BufferedReader) or stream.peek(len(GZIP)).startswith(GZIP):
        return 0
    try:
        status = os.fstat(stream.fileno())
    except OSError:
        return 0
    # One more than there is, so that a file that grows meanwhile is read on.
    return status.st_size + 1 if stat.S_ISREG(status.st_mode) and status.st_size <= MAX_BYTES else 0


def _plain(first: bytes, stream: BinaryIO) -> Iterator[bytes]:
    chunk = first
    while chunk:
        yield chunk
        chunk = stream.read(CHUNK)


def _inflated(first: bytes, stream: BinaryIO) -> Iterator[bytes]:
    damaged = Unreadable("damaged gzip data", "try `gunzip -t` on the file, and fetch it again")
    inflate = zlib.decompressobj(wbits=31)
    waiting = first
    members = 1
    try:
        while waiting:
            if inflate.eof:  # another member follows, or the padding that tape and block devices add
                if not waiting.strip(b"\0"):
                    waiting = stream.read(CHUNK)
                    continue
                inflate = zlib.decompressobj(wbits=31)
                members += 1
                if members > MAX_MEMBERS:
                    raise Unreadable("gzip data in too many pieces", "decompress the file first")
            chunk = inflate.decompress(waiting, CHUNK)
            if chunk:
                yield chunk
            waiting = inflate.unconsumed_tail or inflate.unused_data or stream.read(CHUNK)
    except zlib.error:
        raise damaged from None
    if not inflate.eof:
        raise damaged
