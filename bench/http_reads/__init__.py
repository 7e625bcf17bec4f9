"""What the benchmark of the HTTP interface is made of."""
