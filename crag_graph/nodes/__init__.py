"""The steps of the graph, one file each."""
