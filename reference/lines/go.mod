module reparto.dev/reference/lines

go 1.26.0
