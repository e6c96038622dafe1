"""From a question to a cited answer: Corrective RAG, and the means to measure it."""
