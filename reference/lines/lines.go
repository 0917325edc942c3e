// Package lines is how all programs of reference/ are talked to: one JSON question a line in, one JSON answer a line out, in the same
// order.
package lines

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Serve answers standard input on standard output until it ends, and exits with status 1 where that fails.
func Serve[Answer any](solve func(line []byte) Answer) {
	if err := serve(os.Stdin, os.Stdout, solve); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve answers line by line. Each answer is flushed at once: the asker may wait for it.
func serve[Answer any](input io.Reader, output io.Writer, solve func(line []byte) Answer) error {
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

// Decode reads a question. Unknown fields are errors: a misspelt one must not silently become another question.
func Decode(line []byte, question any) error {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	return decoder.Decode(question)
}
