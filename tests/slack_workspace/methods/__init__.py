"""The Web API methods, a file for each family."""
