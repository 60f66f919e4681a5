#!/usr/bin/env bash
# Orders of a Balcão checkout, with curl and coreutils. README.md beside this file explains each step.
#
#   orders.sh create REFERENCE AMOUNT DESCRIPTION
#   orders.sh verify ID TIMESTAMP SIGNATURES < BODY
#   orders.sh refund NUMBER PAYMENT [AMOUNT]
set -euo pipefail

# create_order REFERENCE AMOUNT DESCRIPTION: makes the order of this reference; its buyer pays at the `url` of the answer.
# Neither text may contain a quotation mark or a backslash.
create_order() {
  post /orders/ "order-$1" "{\"reference\": \"$1\", \"amount\": $2, \"description\": \"$3\"}"
}

# refund NUMBER PAYMENT [AMOUNT]: gives back an amount of a payment, or all that is left. NUMBER is the shop's own for this refund.
refund() {
  post "/payments/$2/refunds" "refund-$1" "{${3:+\"amount\": $3}}"
}

# post PATH KEY BODY: curl asks again when no final answer comes. The key is the same, so that nothing is done twice.
# What is given to a command can be read by everybody on the machine, so the merchant's key comes by a pipe.
post() {
  local address=${CHECKOUT_URL:?}$1 key=${CHECKOUT_KEY:?} answer status
  answer=$(mktemp)
  status=$(curl --silent --show-error --max-time 60 --retry 3 --retry-all-errors \
    --output "$answer" --write-out '%{http_code}' \
    --header @<(printf 'Authorization: Bearer %s\n' "$key") \
    --header 'Content-Type: application/json' --header "Idempotency-Key: $2" \
    --data "$3" "$address") || status=000
  if [[ $status == 20? ]]; then
    cat "$answer"
  else
    cat "$answer" >&2
  fi
  rm -f "$answer"
  [[ $status == 20? ]]
}

# verify_event ID TIMESTAMP SIGNATURES < BODY: the event in the body, if one of the signatures is the checkout's. The others come from
# its headers.
verify_event() {
  local LC_ALL=C secret=${CHECKOUT_WEBHOOK_SECRET:?} key body now expected one is_ours=false
  body=$(cat && printf .)
  body=${body%.}
  now=$(date +%s)
  if ! [[ $2 =~ ^[0-9]{1,12}$ ]] || ((10#$2 < now - 300 || 10#$2 > now + 300)); then
    echo "the timestamp is not of the last five minutes" >&2
    return 1
  fi
  key=$(printf %s "${secret#whsec_}" | base64 -d | od -An -v -tx1 | tr -d ' \n')
  expected=v1,$(printf '%s.%s.%s' "$1" "$2" "$body" | hmac "$key" | base64)
  # A new secret is valid beside the old one for a while: then there are two signatures.
  for one in $3; do
    # Each side once more under the secret: how long their comparison takes tells nothing then.
    if [[ $(printf %s "$one" | hmac "$key" | base64) == "$(printf %s "$expected" | hmac "$key" | base64)" ]]; then
      is_ours=true
    fi
  done
  if ! $is_ours; then
    echo "no signature is the checkout's" >&2
    return 1
  fi
  printf '%s' "$body"
}

# hmac KEY: HMAC-SHA256 (RFC 2104) of standard input, under a key of at most 64 bytes in hexadecimal. `openssl` would take the key as an
# argument, which everybody on the machine can read.
hmac() {
  local inner='' outer='' byte
  for ((at = 0; at < 128; at += 2)); do
    byte=$((16#0${1:at:2}))
    printf -v inner '%s\\x%02x' "$inner" $((byte ^ 0x36))
    printf -v outer '%s\\x%02x' "$outer" $((byte ^ 0x5c))
  done
  { printf %b "$outer" && { printf %b "$inner" && cat; } | sha256; } | sha256
}

# The digest's bytes. The name `-` behind it is cut off.
sha256() {
  printf %b "$(sha256sum | cut -c 1-64 | sed 's/../\\x&/g')"
}

main() {
  case ${1-}-$# in
    create-4) create_order "${@:2}" ;;
    verify-4) verify_event "${@:2}" ;;
    refund-[34]) refund "${@:2}" ;;
    *) sed -n '4,6s/^# *//p' "${BASH_SOURCE[0]}" >&2 && return 1 ;;
  esac
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  main "$@"
fi
