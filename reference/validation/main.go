// Command validation answers what the API server makes of an object of resource.k8s.io: strict decoding, defaults,
// conversion to another version, and every validation error. One JSON request a line in, one JSON answer a line out, in
// the same order. See ../README.md for the fields.
//
// It exists for conformance tests only; nothing in the product runs it.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
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
