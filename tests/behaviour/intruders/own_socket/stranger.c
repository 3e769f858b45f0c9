// A program of another user at a socket in the file system: `listen PATH` takes it and prints what it is
// told, `ask PATH` asks there for the sessions and prints what it is answered.
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static void print_all(int fd) {
    char part[4096];
    for (ssize_t length; (length = read(fd, part, sizeof part)) > 0;) write(1, part, length);
}

int main(int count, char **words) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    strncpy(address.sun_path, words[2], sizeof address.sun_path - 1);
    int own = socket(AF_UNIX, SOCK_STREAM, 0);
    if (!strcmp(words[1], "ask")) {
        if (connect(own, (void *)&address, sizeof address)) return perror("connect"), 1;
        dprintf(own, "GET /sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
        print_all(own);
        return 0;
    }
    if (bind(own, (void *)&address, sizeof address)) return perror("bind"), 1;
    chmod(address.sun_path, 0666);
    if (listen(own, 8)) return perror("listen"), 1;
    dprintf(1, "listening\n");
    for (int other; (other = accept(own, 0, 0)) >= 0; close(other)) {
        dprintf(1, "connected\n");
        print_all(other);
    }
    return 0;
}
