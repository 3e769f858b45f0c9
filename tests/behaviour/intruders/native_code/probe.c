// A program in the place of Node.js: it speaks to the relay as a worker does, and tries with the system's
// own calls what agents' code could try once it runs native code. Each line of its answer is an attempt
// and the name of the error that it met, or "done".
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char text[65536];

static void tell(const char *name, long result) {
    const char *outcome = result < 0 ? strerrorname_np(errno) : "done";
    sprintf(text + strlen(text), "%s %s\\n", name, outcome ? outcome : "?");
}

#define TRY(name, call) (errno = 0, tell(name, (long)(call)))
#define CALL(name, number, ...) TRY(name, syscall(number, ##__VA_ARGS__))

static struct sockaddr_in place(int port) {
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static int dial(int port) {
    struct sockaddr_in address = place(port);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int result = connect(fd, (void *)&address, sizeof address);
    int error = errno;
    close(fd);
    errno = error;
    return result;
}

static int dial6(const char *host, int port) {
    struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
    inet_pton(AF_INET6, host, &address.sin6_addr);
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    return connect(fd, (void *)&address, sizeof address);
}

// Asks a relay for its tabs: EACCES if it refuses.
static int ask(int fd) {
    const char request[] = "GET /json/list HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    char answer[4096] = { 0 };
    if (write(fd, request, sizeof request - 1) < 0 || read(fd, answer, sizeof answer - 1) <= 0) return -1;
    errno = EACCES;
    return strncmp(answer, "HTTP/1.1 403", 12) ? 0 : -1;
}

static void sockets(int relay) {
    struct sockaddr_in address = place(relay);
    TRY("connect to the relay", dial(relay));
    TRY("connect to the relay by ::1", dial6("::1", relay));
    TRY("connect to the relay by a mapped address", dial6("::ffff:127.0.0.1", relay));
    TRY("connect to the usual relay", dial(19988));
    TRY("connect to ssh", dial(22));
    TRY("connect to a web server", dial(80));
    TRY("MPTCP", socket(AF_INET, SOCK_STREAM, 262));
    TRY("SMC", socket(43, SOCK_STREAM, 0));
    TRY("SMC over AF_INET", socket(AF_INET, SOCK_STREAM, 256));
    TRY("SCTP", socket(AF_INET, SOCK_STREAM, 132));
    TRY("SEQPACKET", socket(AF_INET, SOCK_SEQPACKET, 132));
    TRY("RAW", socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
    TRY("ping socket", socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP));
    TRY("AF_UNIX", socket(AF_UNIX, SOCK_STREAM, 0));
    TRY("NETLINK", socket(AF_NETLINK, SOCK_RAW, 0));
    TRY("PACKET", socket(AF_PACKET, SOCK_RAW, 0));
    TRY("VSOCK", socket(AF_VSOCK, SOCK_STREAM, 0));
    TRY("UDP", socket(AF_INET, SOCK_DGRAM, 0));
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    char byte = 'x';
    struct iovec part = { &byte, 1 };
    struct mmsghdr many = { .msg_hdr = { &address, sizeof address, &part, 1 } };
    TRY("fast open by sendto", sendto(fd, &byte, 1, MSG_FASTOPEN, (void *)&address, sizeof address));
    TRY("fast open by sendmsg", sendmsg(fd, &many.msg_hdr, MSG_FASTOPEN));
    TRY("fast open by sendmmsg", sendmmsg(fd, &many, 1, MSG_FASTOPEN));
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &one, sizeof one);
    TRY("connect later by an option", connect(fd, (void *)&address, sizeof address));
    TRY("another protocol by an option", setsockopt(fd, IPPROTO_TCP, TCP_ULP, "smc", 4));
    address.sin_family = AF_UNSPEC;
    int loose = socket(AF_INET, SOCK_STREAM, 0);
    connect(loose, (void *)&address, sizeof address);
    TRY("connect without a family", send(loose, &byte, 1, MSG_NOSIGNAL));
    TRY("listen without bind", listen(socket(AF_INET, SOCK_STREAM, 0), 1));
    address = place(0);
    TRY("bind", bind(socket(AF_INET, SOCK_STREAM, 0), (void *)&address, sizeof address));
    TRY("accept", accept(loose, 0, 0));
    int pair[2];
    TRY("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
}

static void files(const char *secret, const char *other, int relay) {
    char path[256];
    char byte = 'x';
    TRY("read a secret", open(secret, O_RDONLY));
    TRY("write to a secret", open(secret, O_WRONLY));
    TRY("read the session of another", open(other, O_RDONLY));
    TRY("read /etc/passwd", open("/etc/passwd", O_RDONLY));
    TRY("make a file in /tmp", open("/tmp/playwriter-probe", O_CREAT | O_WRONLY, 0600));
    TRY("open the terminal", open("/dev/tty", O_RDWR));
    sprintf(path, "/proc/%d/environ", relay);
    TRY("read the relay's environment", open(path, O_RDONLY));
    sprintf(path, "/proc/%d/fd", relay);
    TRY("list the relay's descriptors", opendir(path) ? 0 : -1);
    sprintf(path, "/proc/%d/mem", getppid());
    TRY("write to the shell's memory", open(path, O_RDWR));
    TRY("list /", opendir("/") ? 0 : -1);
    CALL("chmod", SYS_chmod, secret, 0666);
    CALL("fchmodat", SYS_fchmodat, AT_FDCWD, secret, 0666);
    CALL("fchmodat2", 452, AT_FDCWD, secret, 0666, 0);
    CALL("chown", SYS_chown, secret, 65534, 65534);
    CALL("lchown", SYS_lchown, secret, 65534, 65534);
    CALL("fchownat", SYS_fchownat, AT_FDCWD, secret, 65534, 65534, 0);
    CALL("setxattr", SYS_setxattr, secret, "user.x", &byte, 1, 0);
    CALL("removexattr", SYS_removexattr, secret, "user.x");
    CALL("setxattrat", 463, AT_FDCWD, secret, 0, "user.x", 0, 0);
    CALL("utime", SYS_utime, secret, 0);
    CALL("utimensat", SYS_utimensat, AT_FDCWD, secret, 0, 0);
    CALL("truncate", SYS_truncate, secret, 0);
    CALL("file_setattr", 469, AT_FDCWD, secret, 0, 0, 0);
    CALL("name_to_handle_at", SYS_name_to_handle_at, AT_FDCWD, secret, 0, 0, 0);
    CALL("inotify", SYS_inotify_add_watch, 0, secret, 1);
    TRY("unlink", unlink(secret));
    TRY("take by rename", rename(secret, "mine"));
    TRY("take by a link", link(secret, "mine"));
    TRY("symlink in its folder", symlink(secret, "link"));
    TRY("pipe in its folder", mkfifo("pipe", 0600));
    TRY("device in its folder", mknod("null", S_IFCHR | 0600, 0x103));
    int own = open("own", O_CREAT | O_RDWR, 0600);
    TRY("file in its folder", own);
    TRY("mode by descriptor", fchmod(own, 0640));
    TRY("folder in its folder", mkdir("folder", 0700) == 0 || errno == EEXIST ? 0 : -1);
    TRY("rename in its folder", rename("own", "folder/own"));
    TRY("temporary file", open("tmp/x", O_CREAT | O_RDWR, 0600));
}

static void processes(int relay) {
    int shell = getppid();
    CALL("fork", SYS_fork);
    CALL("vfork", SYS_vfork);
    CALL("clone", SYS_clone, SIGCHLD, 0, 0, 0, 0);
    CALL("clone into a namespace", SYS_clone, CLONE_NEWUSER | CLONE_THREAD | CLONE_SIGHAND | CLONE_VM, 0, 0, 0, 0);
    CALL("clone3", SYS_clone3, 0, 0);
    CALL("unshare", SYS_unshare, CLONE_NEWUSER);
    CALL("setns", SYS_setns, 0, 0);
    CALL("setsid", SYS_setsid);
    CALL("setpgid", SYS_setpgid, 0, 0);
    char *none[] = { "x", 0 };
    TRY("execute /bin/sh", execve("/bin/sh", none, none + 1));
    TRY("execute /usr/bin/env", execve("/usr/bin/env", none, none + 1));
    int program = open("program", O_CREAT | O_WRONLY, 0700);
    dprintf(program, "#!/bin/sh\n");
    close(program);
    TRY("execute a file in its folder", execve("program", none, none + 1));
    int memory = memfd_create("x", 0);
    dprintf(memory, "\x7f" "ELF");
    CALL("execveat of memory", SYS_execveat, memory, "", none, none + 1, AT_EMPTY_PATH);
    char path[64];
    sprintf(path, "/proc/self/fd/%d", memory);
    TRY("execute memory by path", execve(path, none, none + 1));
    CALL("kill the relay", SYS_kill, relay, 0);
    CALL("kill the shell", SYS_kill, shell, 0);
    CALL("kill its group", SYS_kill, 0, 0);
    CALL("kill everybody", SYS_kill, -1, 0);
    CALL("tgkill", SYS_tgkill, shell, shell, 0);
    CALL("tkill", SYS_tkill, shell, 0);
    CALL("kill itself", SYS_kill, getpid(), 0);
    CALL("rt_sigqueueinfo", SYS_rt_sigqueueinfo, shell, 0, 0);
    CALL("pidfd_open", SYS_pidfd_open, shell, 0);
    CALL("F_SETOWN", SYS_fcntl, 3, F_SETOWN, shell);
    CALL("F_SETSIG", SYS_fcntl, 3, F_SETSIG, SIGTERM);
    CALL("FIOSETOWN", SYS_ioctl, 3, 0x8901, &shell);
    CALL("TIOCSTI", SYS_ioctl, 3, 0x5412, "x");
    CALL("ptrace", SYS_ptrace, 16, shell, 0, 0);
    CALL("process_vm_readv", SYS_process_vm_readv, shell, 0, 0, 0, 0, 0);
    CALL("process_vm_writev", SYS_process_vm_writev, shell, 0, 0, 0, 0, 0);
    CALL("prlimit", SYS_prlimit64, shell, 7, 0, 0);
    CALL("prlimit of itself", SYS_prlimit64, 0, 7, 0, text + 60000);
    CALL("setpriority", SYS_setpriority, 0, shell, 0);
    CALL("sched_setaffinity", SYS_sched_setaffinity, shell, 8, text);
    CALL("sched_setscheduler", SYS_sched_setscheduler, shell, 0, 0);
    CALL("kcmp", SYS_kcmp, shell, shell, 0, 0, 0);
}

static void kernel(void) {
    CALL("keyctl", SYS_keyctl, 0, -3, 0);
    CALL("add_key", SYS_add_key, "user", "x", "y", 1, -3);
    CALL("shmget", SYS_shmget, 0, 4096, 0600 | 01000);
    CALL("msgget", SYS_msgget, 0, 0600 | 01000);
    CALL("semget", SYS_semget, 0, 1, 0600 | 01000);
    CALL("mq_open", SYS_mq_open, "x", O_CREAT | O_RDWR, 0600, 0);
    CALL("io_uring", SYS_io_uring_setup, 1, text + 60000);
    CALL("io_setup", SYS_io_setup, 1, text + 60000);
    CALL("bpf", SYS_bpf, 0, 0, 0);
    CALL("perf_event_open", SYS_perf_event_open, 0, 0, 0, 0, 0);
    CALL("userfaultfd", SYS_userfaultfd, 0);
    CALL("mount", SYS_mount, "x", ".", "tmpfs", 0, 0);
    CALL("open_tree", SYS_open_tree, AT_FDCWD, ".", 1);
    CALL("chroot", SYS_chroot, ".");
    CALL("personality", SYS_personality, 0);
    CALL("setuid", SYS_setuid, 0);
    CALL("capset", SYS_capset, 0, 0);
    CALL("be dumpable", SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
    CALL("be traced", SYS_prctl, PR_SET_PTRACER, -1, 0, 0, 0);
    CALL("vmsplice", SYS_vmsplice, 0, 0, 0, 0);
#ifdef __x86_64__
    CALL("x32", 0x40000000 | SYS_getpid);
#endif
    CALL("an unknown call", 500);
    struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct sets[2] = { { 0 } };
    syscall(SYS_capget, &header, sets);
    errno = EPERM;
    tell("have a capability", sets[0].permitted | sets[1].permitted | sets[0].effective | sets[0].inheritable ? 0 : -1);
    tell("gain privileges", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? -1 : 0);
    int inherited = 0;
    for (int fd = 5; fd < 10; fd++) inherited |= fcntl(fd, F_GETFD) >= 0 ? 1 << fd : 0;
    errno = EBADF;
    tell("have another descriptor", inherited ? 0 : -1);
}

static int stays;

// Makes a process that nobody waits for, and that goes on when its parents have ended.
static long descend(long child) {
    if (child != 0) return child;
    syscall(SYS_setsid);
    if (syscall(SYS_fork) > 0) _exit(0);
    for (int fd = 0; fd < 64; fd++) close(fd);
    for (;;) pause();
}

static void survive(void) {
    for (int signal = 1; signal < 65; signal++) {
        struct sigaction ignored = { .sa_handler = SIG_IGN };
        sigaction(signal, &ignored, 0);
    }
    TRY("fork", descend(syscall(SYS_fork)));
    TRY("vfork", syscall(SYS_vfork));
    TRY("clone", descend(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)));
    TRY("clone with a parent of its own", descend(syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0)));
    CALL("clone3", SYS_clone3, 0, 0);
    CALL("setsid", SYS_setsid);
    CALL("setpgid", SYS_setpgid, 0, 0);
    stays = 1;
}

static const char *value(const char *line, const char *name) {
    static char found[8][512];
    static int next;
    char *result = found[next++ % 8];
    const char *start = strstr(line, name);
    result[0] = 0;
    if (start) sscanf(start + strlen(name), "%511[^;\"]", result);
    return result;
}

int main(int count, char **words) {
    if (count > 1 && !strcmp(words[1], "--version")) return puts("v24.13.0") < 0;
    if (count > 1 && !strcmp(words[1], "-e")) {
        char own[512] = { 0 };
        if (readlink("/proc/self/exe", own, sizeof own - 1) < 0) return 1;
        return printf("{\"program\":\"%s\",\"objects\":[]}\n", own) < 0;
    }
    FILE *requests = fdopen(3, "r");
    char *line = 0;
    size_t size = 0;
    while (getline(&line, &size, requests) > 0) {
        int id = atoi(value(line, "\"id\":"));
        if (strstr(line, "\"type\":\"start\"")) dprintf(4, "{\"type\":\"ready\",\"pid\":%d}\n", getpid());
        if (strstr(line, "\"type\":\"ping\"")) dprintf(4, "{\"type\":\"alive\",\"id\":%d}\n", id);
        if (!strstr(line, "\"type\":\"execute\"")) continue;
        dprintf(4, "{\"type\":\"received\",\"id\":%d,\"connects\":false}\n{\"type\":\"begun\",\"id\":%d}\n", id, id);
        const char *what = value(line, "try=");
        int port = atoi(value(line, "port="));
        int relay = atoi(value(line, "relay="));
        text[0] = 0;
        if (!strcmp(what, "sockets")) sockets(port);
        if (!strcmp(what, "files")) files(value(line, "secret="), value(line, "other="), relay);
        if (!strcmp(what, "processes")) processes(relay);
        if (!strcmp(what, "kernel")) kernel();
        if (!strcmp(what, "survive")) survive();
        if (!strcmp(what, "ask")) {
            struct sockaddr_in address = place(port);
            int fd = socket(AF_INET, SOCK_STREAM, 0);
            TRY("connect to the relay", connect(fd, (void *)&address, sizeof address));
            TRY("ask the relay", ask(fd));
            TRY("ask the relay again", ask(fd));
        }
#ifdef __x86_64__
        // As 32-bit programs call: number 20 is getpid there, and writev here.
        if (!strcmp(what, "int80")) __asm__ volatile("int $0x80" : : "a"(20) : "memory");
#endif
        dprintf(4, "{\"type\":\"done\",\"id\":%d,\"failed\":false,\"text\":\"%s\",\"images\":[]}\n", id, text);
    }
    while (stays) pause();
    return 0;
}
