"""The service to people: Slack, command line, traces, memory and jobs around the graph."""
