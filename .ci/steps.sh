# Steps, their times and outcomes, and the end of a run. Read by ./test; uses its $logs and $work.

outcomes=()   # one line per step for the summary
failed=()     # names of the steps that failed
failures=()   # names of the tests that failed
passed=0      # tests, summed from what `cargo test` prints
broken=0
ignored=0
running=      # process group of the step that runs
longest=2700  # seconds after which a step counts as hanging, on the slowest machine

# step NAME COMMAND…: runs it with its output in a log, and shows the log when it fails.
# Functions run in this shell, since they start servers that it must stop; programs run as a job of their own,
# so that an interruption reaches all of it.
step() {
  local name=$1 log status=0 began=$SECONDS
  shift
  log=$logs/${name//[^a-zA-Z]/-}.log
  printf '%-28s' "$name"
  if [[ $(type -t "$1") == function ]]; then
    "$@" >"$log" 2>&1 || status=$?
  else
    set -m
    timeout --kill-after=20 "$longest" "$@" >"$log" 2>&1 &
    set +m
    running=$!
    wait "$running" || status=$?
    running=
  fi
  local seconds=$((SECONDS - began))
  if ((status == 0)); then
    printf 'ok      %5d s\n' "$seconds"
    outcomes+=("$(printf '%-28sok      %5d s' "$name" "$seconds")")
  else
    printf 'FAILED  %5d s\n' "$seconds"
    outcomes+=("$(printf '%-28sFAILED  %5d s' "$name" "$seconds")")
    failed+=("$name")
    ((status != 124)) || printf '%s did not end within %d seconds\n' "$name" "$longest" >>"$log"
    show "$log"
  fi
  return "$status"
}

# show LOG: what failed according to it. Of tests, what those said that failed, since others may have run after them.
show() {
  printf -- '--- from %s\n' "$1"
  if grep -q '^failures:$' "$1"; then
    sed -n '/^failures:$/,/^test result: /p' "$1" | head -n 400 || true
    grep '^error' "$1" | tail -n 20 || true
  else
    tail -n 300 "$1"
  fi
  printf -- '---\n'
}

# leave_out NAME REASON: says what does not run.
leave_out() {
  printf '%-28snot run: %s\n' "$1" "$2"
  outcomes+=("$(printf '%-28snot run: %s' "$1" "$2")")
}

# tests NAME ARGUMENT…: a step of `cargo test`, its results added to the sums.
tests() {
  local name=$1 log
  shift
  log=$logs/${name//[^a-zA-Z]/-}.log
  step "$name" cargo test --locked --workspace --no-fail-fast "$@" || true
  mapfile -t -O "${#failures[@]}" failures < <(sed -n 's/^test \(.*\) \.\.\. FAILED$/\1/p' "$log")
  passed=$((passed + $(sum_of passed "$log")))
  broken=$((broken + $(sum_of failed "$log")))
  ignored=$((ignored + $(sum_of ignored "$log")))
}

# sum_of WORD LOG: adds up "test result: ok. 3 passed; 0 failed; 0 ignored; …".
sum_of() {
  { grep '^test result: ' "$2" || true; } |
    { grep -o "[0-9]* $1" || true; } |
    awk '{ sum += $1 } END { print sum + 0 }'
}

nothing_ignored() {
  printf '%d tests are ignored\n' "$ignored"
  ((ignored == 0))
}

# finish: stops what was started, removes the working folder, prints the summary. Runs however the run ends.
finish() {
  local status=$?
  trap - EXIT INT TERM
  set +e
  [[ -z $running ]] || end_group "$running"
  stop_servers
  end_strays
  rm -rf "$work"
  ((status > 0 || ${#failed[@]} == 0)) || status=1
  ((status < 128)) || failed+=("interrupted")
  if ((${#outcomes[@]} > 0)); then
    printf '\nWhat ran, with %s:\n' "$(versions)"
    printf '  %s\n' "${outcomes[@]}"
    ((${#failures[@]} == 0)) || printf '  failed: %s\n' "${failures[@]}"
    ((status == 0)) || printf 'Not all is well (exit status %d): %s\n' "$status" "$(printf '%s; ' "${failed[@]}")"
    printf '%d passed, %d failed\n' "$passed" "$broken"
  fi
  exit "$status"
}

end_group() {
  kill -TERM -- "-$1" 2>/dev/null
  for _ in {1..50}; do
    kill -0 -- "-$1" 2>/dev/null || return
    sleep 0.1
  done
  kill -KILL -- "-$1" 2>/dev/null
}

# Programs that outlived the test that started them, known by the working folder in their command line.
end_strays() {
  local entry
  for entry in /proc/[0-9]*; do
    if [[ ${entry#/proc/} != "$$" ]] && tr '\0' ' ' 2>/dev/null <"$entry/cmdline" | grep -qF -- "$work/"; then
      kill -KILL "${entry#/proc/}" 2>/dev/null
    fi
  done
}
