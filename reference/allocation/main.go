// Command allocation answers questions with the packages that Kubernetes itself is built from: what would its allocator do
// with these claims, or with the claims of many pods one after the other, and what does its CEL compiler make of this selector?
// One JSON problem a line in, one JSON answer a line out, in the same order. See ../README.md for the fields.
//
// It exists for conformance tests and benchmarks only; nothing in the product runs it.
package main

import (
	"fmt"
	"os"
	"runtime/debug"

	"reparto.dev/reference/lines"
)

func main() {
	lines.Serve(solve)
}

// solve answers one line. A few expressions make Kubernetes' own compiler panic (the API server then answers 500 and
// stores nothing); such a line is answered with kind "panic" instead of ending the process.
func solve(line []byte) (out answer) {
	var p problem
	defer func() {
		if r := recover(); r != nil {
			out = answer{ID: p.ID, Kind: "panic", Error: fmt.Sprint(r)}
			if os.Getenv("REPARTO_ORACLE_TRACE") != "" {
				fmt.Fprintf(os.Stderr, "%v\n%s", r, debug.Stack())
			}
		}
	}()
	if err := lines.Decode(line, &p); err != nil {
		return answer{ID: p.ID, Kind: "invalid", Error: err.Error()}
	}
	if p.Selector != nil {
		return judgeSelector(&p)
	}
	if p.Drive != nil {
		return driveScheduler(&p)
	}
	return allocate(&p)
}
