#!/usr/bin/env bash
# Two machines and a wire between them, as networks of their own: browser and relay on the
# one, far.mjs on the other. Prints what far.mjs prints. Run it in a network where it may do as it
# likes: unshare --user --map-root-user --net --pid --fork --kill-child --mount-proc two.sh
set -euo pipefail
near=192.0.2.1 far=192.0.2.2

coproc FAR { exec unshare --net bash; }
there() { printf '%s\n' "$*" >&"${FAR[1]}"; }
there echo ready
read -r _ <&"${FAR[0]}"

ip link set lo up
ip link add near type veth peer name far
ip link set far netns "$FAR_PID"
ip address add "$near/24" dev near
ip link set near up
there "ip link set lo up; ip address add $far/24 dev far; ip link set far up"

exec 3< <(exec playwriter browser start --headless --host "$near" 2>&1)
browser=$!
said=
until [[ $said == "press Ctrl-C"* ]]; do
  read -r said <&3 || { echo "browser start ended" >&2; exit 1; }
  echo "$said" >&2
done

there "PLAYWRITER_HOST=$near node far.mjs; echo"
read -r answer <&"${FAR[0]}"
printf '%s\n' "$answer"

kill -INT "$browser"
wait "$browser"
