# Python's own subprocess.run, as an agent without trl would do it. spawn.py PROGRAM [ARG...]
import subprocess
import sys
import time

print("ready", flush=True)
for line in sys.stdin:
    count, pause_us = (int(word) for word in line.split())
    samples = []
    block = time.monotonic_ns()
    for _ in range(count):
        if pause_us > 0:
            time.sleep(pause_us / 1e6)
        began = time.monotonic_ns()
        subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, capture_output=True)
        samples.append(time.monotonic_ns() - began)
    print(time.monotonic_ns() - block, *samples, flush=True)
