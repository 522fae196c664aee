#!/usr/bin/env bash
# Runs the README's two commands, or another command, on a bare Debian: debootstrap's minbase and `make`, with a clone of
# this checkout's HEAD. Whatever a check on a machine in use takes for granted is missing there.
#
#   tools/check_fresh.sh                 make demo && make test
#   tools/check_fresh.sh COMMAND...      this command, in the clone
#   tools/check_fresh.sh --user ...      the same as a user with sudo instead of root
#   tools/check_fresh.sh --packages ...  build/packages of the clone is that of this checkout
#   RELEASE=trixie tools/check_fresh.sh  Debian 13 (default: bookworm, Debian 12)
#
# Needs root, debootstrap, and some 12 GB of free memory: the system lives in a tmpfs. The exit code is the command's.
#
# The system has mount, process and IPC namespaces of its own, and after pivot_root nothing else of this machine is mounted
# in them. The kernel ends its processes and its mounts when this script dies, even by SIGKILL; no trap is needed for that,
# and nothing outside can be deleted from inside. Only the network is shared, to install packages. From this machine come
# the addresses of Debian's mirrors, the settings of apt and npm (proxies, certificates), and the variables of proxies,
# CI and PACELINE_*.
set -euo pipefail

release=${RELEASE:-bookworm}
top=$(cd "$(dirname "$0")/.." && pwd)
root=$top/build/fresh # an empty folder; the system is mounted on it in its own namespace only

fail() {
    echo "tools/check_fresh.sh: $*" >&2
    exit 2
}

# Runs the rest in namespaces of its own. Their first process is killed with unshare, which is killed with this script.
enter_namespaces() {
    ((EUID == 0)) || fail "needs root, to make namespaces and mounts"
    command -v debootstrap >/dev/null || fail "needs debootstrap (tools/deps.sh --fresh installs it)"
    local free_kb
    free_kb=$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)
    ((free_kb > 12000000)) || fail "needs 12 GB of available memory, here are $((free_kb / 1000000)) GB"
    if [[ -n $(git -C "$top" status --porcelain --untracked-files=no) ]]; then
        echo "check_fresh: changes that are not committed are not in the clone"
    fi

    mkdir -p "$root"
    setpriv --pdeathsig KILL unshare --mount --pid --ipc --fork --kill-child --mount-proc \
        "$top/tools/check_fresh.sh" --inside "$@"
}

# The address of Debian's archive by which this machine installs packages: mirror_of LABEL ADDRESS_IF_NONE.
mirror_of() {
    local found=""
    if command -v apt-get >/dev/null; then
        # shellcheck disable=SC2016 # the variables are apt's
        found=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
            awk -v label="$1" '$1 == label { print $2; exit }')
    fi
    echo "${found:-$2}"
}

# copy_apt_settings ARCHIVE SECURITY
copy_apt_settings() {
    {
        echo "deb $1 $release main"
        echo "deb $1 $release-updates main"
        echo "deb $2 $release-security main"
    } >"$root/etc/apt/sources.list"
    local settings
    for settings in /etc/apt/apt.conf /etc/apt/apt.conf.d/*; do
        if grep -qs '^Acquire::' "$settings"; then
            cp "$settings" "$root/etc/apt/apt.conf.d/90-$(basename "$settings")"
        fi
    done
    if compgen -G '/etc/apt/auth.conf.d/*' >/dev/null; then cp /etc/apt/auth.conf.d/* "$root/etc/apt/auth.conf.d/"; fi
    cp /etc/resolv.conf /etc/hosts "$root/etc/"
}

# copy_npm_settings HOME: the home folder as seen inside.
copy_npm_settings() {
    command -v npm >/dev/null || return 0
    local key value
    for key in registry proxy https-proxy noproxy strict-ssl; do
        value=$(npm config get "$key" 2>/dev/null) || continue
        if [[ $value != null && $value != undefined && -n $value ]]; then echo "$key=$value"; fi
    done >"$root$1/.npmrc"
    value=$(npm config get cafile 2>/dev/null) || value=null
    if [[ -f $value ]]; then
        cp "$value" "$root$1/.npm-ca.crt"
        echo "cafile=$1/.npm-ca.crt" >>"$root$1/.npmrc"
    fi
    if [[ -f ~/.npmrc ]]; then grep -E '^//' ~/.npmrc >>"$root$1/.npmrc" || true; fi # accounts of registries
}

make_devices() {
    mount -t tmpfs -o mode=755 devices "$root/dev"
    local device
    for device in null:1:3 zero:1:5 full:1:7 random:1:8 urandom:1:9 tty:5:0; do
        IFS=: read -r name major minor <<<"$device"
        mknod -m 666 "$root/dev/$name" c "$major" "$minor"
    done
    mkdir "$root/dev/pts" "$root/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$root/dev/pts"
    mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
    ln -s pts/ptmx "$root/dev/ptmx"
    ln -s /proc/self/fd "$root/dev/fd"
    ln -s /proc/self/fd/0 "$root/dev/stdin"
    ln -s /proc/self/fd/1 "$root/dev/stdout"
    ln -s /proc/self/fd/2 "$root/dev/stderr"
}

inside() {
    local as=root home=/root packages=
    while [[ ${1:-} == --* ]]; do
        case $1 in
            --user) as=builder home=/home/builder ;;
            --packages) packages=$top/build/packages ;;
            *) fail "no such option: $1" ;;
        esac
        shift
    done
    local command=${*:-make demo && make test}

    mount -t tmpfs -o size=90%,mode=755 fresh "$root"
    echo "check_fresh: installs a bare Debian $release"
    local archive security
    archive=$(mirror_of Debian http://deb.debian.org/debian)
    security=$(mirror_of Debian-Security http://deb.debian.org/debian-security)
    debootstrap --variant=minbase --include=make "$release" "$root" "$archive" >"$root.log" 2>&1 || {
        tail -n 20 "$root.log" >&2
        fail "debootstrap failed"
    }
    if [[ $as != root ]]; then
        chroot "$root" useradd --create-home --shell /bin/bash "$as"
    fi
    copy_apt_settings "$archive" "$security"
    copy_npm_settings "$home"
    git clone --quiet --no-hardlinks "$top" "$root$home/paceline"
    git -C "$root$home/paceline" remote remove origin

    if [[ -n $packages ]]; then
        mkdir -p "$packages" "$root$home/paceline/build/packages"
        mount --bind "$packages" "$root$home/paceline/build/packages"
    fi
    mount -t proc proc "$root/proc"
    mount -t sysfs -o ro sysfs "$root/sys"
    make_devices
    if [[ $as != root ]]; then
        chroot "$root" chown -R "$as:" "$home"
        chroot "$root" sh -c 'apt-get -qq update && apt-get -qq --yes install sudo' >/dev/null 2>&1
        echo "$as ALL=(ALL) NOPASSWD: ALL" >"$root/etc/sudoers.d/$as"
    fi

    local settings=("HOME=$home" "USER=$as" "LOGNAME=$as" "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
    local variable
    for variable in $(compgen -e); do
        case $variable in
            PACELINE_* | CI | TERM | http_proxy | https_proxy | no_proxy | HTTP_PROXY | HTTPS_PROXY | NO_PROXY)
                settings+=("$variable=${!variable}") ;;
        esac
    done
    echo "check_fresh: runs as $as: $command"
    cd "$root"
    pivot_root . .
    umount -l .
    # Bash stays the first process, which reaps orphans, and everything ends with it. Signals that whoever started this
    # script ignores, as nohup does, have their usual effect again.
    # shellcheck disable=SC2016 # expanded inside
    exec chroot . /usr/bin/env -i --default-signal "${settings[@]}" /bin/bash -c '
        cd ~/paceline
        setpriv --reuid '"$as"' --regid '"$as"' --init-groups bash -c "$1"
        exit $?' bash "$command"
}

if [[ ${1:-} == --inside ]]; then
    shift
    inside "$@"
else
    enter_namespaces "$@"
fi
