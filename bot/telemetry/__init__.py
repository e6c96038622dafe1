"""What operators watch: numbers for Prometheus, and spans for OpenTelemetry; never what was asked or answered."""
