"""How much a file may ask of us. Each limit is far above what real clusters need and far below what would hurt a laptop."""

MAX_BYTES = 2 << 30  # one file, after decompression: a million devices with counters are 1.2 GB
MAX_LINE = 64 << 20  # one YAML line, in characters: libyaml keeps the line in memory while it decides what it is
MAX_DEPTH = 100  # nesting of mappings and sequences; the deepest Kubernetes object known (a CRD schema) stays under 60
MAX_ALIASED = 1_000_000  # values that aliases may stand for in one document, together: kubectl stops in the same region
DUPLICATES_UP_TO = 16 << 20  # JSON bytes of a file in which repeated keys are looked for: beyond, the check would take seconds
INDEX_UP_TO = 16 << 20  # characters of one object for which lines of its fields are worked out
MAX_PROBLEMS = 50  # broken documents of one file that are reported before the rest of it is given up
