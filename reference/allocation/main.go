// Command allocation answers two questions with the packages that Kubernetes itself is built from: what would its
// allocator do with these claims, and what does its CEL compiler make of this selector? One JSON problem a line in,
// one JSON answer a line out, in the same order. See ../README.md for the fields.
//
// It exists for conformance tests and benchmarks only; nothing in the product runs it.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
)

func main() {
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve answers line by line until the input ends. Each answer is flushed at once: the asker may wait for it.
func serve(input io.Reader, output io.Writer) error {
	lines, out := bufio.NewReaderSize(input, 1<<20), bufio.NewWriter(output)
	encoder := json.NewEncoder(out)
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if encodeErr := encoder.Encode(solve(line)); encodeErr != nil {
				return encodeErr
			}
			if flushErr := out.Flush(); flushErr != nil {
				return flushErr
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
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
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields() // a misspelt field must not silently become another problem
	if err := decoder.Decode(&p); err != nil {
		return answer{ID: p.ID, Kind: "invalid", Error: err.Error()}
	}
	if p.Selector != nil {
		return judgeSelector(&p)
	}
	return allocate(&p)
}
