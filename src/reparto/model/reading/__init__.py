"""From what people have (folders, dumps, pasted terminals, pipes) to one Kubernetes object at a time, with its place.

Nothing here knows a kind: what an object means is `intake`'s business. What cannot be read becomes a `Problem` with file and
line and the rest is still read; nothing raises, hangs or grows without bound, whatever the bytes are.
"""

from reparto.model.reading.documents import Document, Note, Opened
from reparto.model.reading.reader import Entry, read
from reparto.model.reading.yaml_text import RENDER, TEMPLATE, flattened

__all__ = ["RENDER", "TEMPLATE", "Document", "Entry", "Note", "Opened", "flattened", "read"]
