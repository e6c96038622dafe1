"""The web beyond the library: Tavily, SearXNG, or none."""
