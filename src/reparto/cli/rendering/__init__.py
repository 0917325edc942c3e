"""How answers look to a person: one module for each thing that is shown, and `layout`, which makes tables fit the terminal."""
