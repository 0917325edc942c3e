// Command scheduling answers where kube-scheduler places pods. The real scheduler runs on an in-memory API that holds the
// problem's objects; it takes one pod after the other, one attempt each, on one thread, so that nothing depends on timing. One
// JSON problem a line in, one JSON answer a line out, in the same order. See ../README.md for the fields.
//
// It exists for conformance tests only; nothing in the product runs it.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"k8s.io/klog/v2"
)

func main() {
	klog.InitFlags(nil) // -v=10 shows the scheduler's own reasoning on standard error
	flag.Parse()
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

func solve(line []byte) answer {
	var p problem
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields() // a misspelt field must not silently become another problem
	if err := decoder.Decode(&p); err != nil {
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
