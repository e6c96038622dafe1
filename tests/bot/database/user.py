"""A process that uses the embedded server of a data directory: joins it, says so, waits for a line, and leaves."""

import sys
from pathlib import Path

from bot.database.embedded import EmbeddedServer

if __name__ == "__main__":
    server = EmbeddedServer(Path(sys.argv[1]), {"fsync": "off", "shared_buffers": "16MB"})
    sys.stdout.write("joined\n")
    sys.stdout.flush()
    sys.stdin.readline()
    sys.stdout.write("stopped\n" if server.leave() else "left\n")
