// Command scheduling answers where kube-scheduler places pods. The real scheduler runs on an in-memory API that holds the
// problem's objects; it takes one pod after the other, one attempt each, on one thread, so that nothing depends on timing. One
// JSON problem a line in, one JSON answer a line out, in the same order. See ../README.md for the fields.
//
// It exists for conformance tests only; nothing in the product runs it.
package main

import (
	"errors"
	"flag"

	"k8s.io/klog/v2"

	"reparto.dev/reference/lines"
)

func main() {
	klog.InitFlags(nil) // -v=10 shows the scheduler's own reasoning on standard error
	flag.Parse()
	lines.Serve(solve)
}

func solve(line []byte) answer {
	var p problem
	if err := lines.Decode(line, &p); err != nil {
		return answer{ID: p.ID, Kind: "invalid", Error: err.Error()}
	}
	out, err := schedule(&p)
	var slow notSettled
	switch {
	case errors.As(err, &slow):
		return answer{ID: p.ID, Kind: "timeout", Error: err.Error()}
	case err != nil:
		return answer{ID: p.ID, Kind: "invalid", Error: err.Error()}
	}
	out.ID, out.Kind = p.ID, "scheduled"
	return out
}
