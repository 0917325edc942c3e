// Command validation answers what the API server makes of an object of resource.k8s.io: strict decoding, defaults,
// conversion to another version, and every validation error. One JSON request a line in, one JSON answer a line out, in
// the same order. See ../README.md for the fields.
//
// It exists for conformance tests only; nothing in the product runs it.
package main

import (
	"reparto.dev/reference/lines"
)

func main() {
	lines.Serve(solve)
}
