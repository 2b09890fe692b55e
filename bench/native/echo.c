// The floor of ping: returns what arrives over a Unix socket, and does nothing else.
// echo PATH
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "side.h"

int main(int argc, char **argv) {
  static char buffer[65536];
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (argc < 2) return 64;
  signal(SIGPIPE, SIG_IGN);
  strncpy(address.sun_path, argv[1], sizeof address.sun_path - 1);
  int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0) die(argv[1]);
  if (listen(listener, 8) < 0) die("listen");
  for (;;) {
    int client = accept(listener, NULL, NULL);
    if (client < 0) die("accept");
    for (ssize_t size; (size = read(client, buffer, sizeof buffer)) > 0;)
      if (write(client, buffer, size) != size) break;
    close(client);
  }
}
