#!/usr/bin/env bash
# The action's main step: checks the board of a pull request, and says what it changes. It runs without GitHub too.
#
# It must run in the repository, with the pull request checked out. Environment:
#   RALPH               the ralph program                                                    [default: ralph]
#   BASE_SHA            the commit that the pull request is based on                         [default: HEAD^1]
#   HEAD_SHA            the last commit of the pull request; needed to recognise GitHub's test merge
#   PULL_REQUEST        its number; without it nothing is commented
#   COMMENT             true or false: comment on the pull request                           [default: true]
#   COMMENT_AUTHOR      the login under which the token comments                 [default: github-actions[bot]]
#   REPORT              true or false: write the HTML report                                 [default: true]
#   FAIL_ON             error, warning or never                                              [default: error]
#   GITHUB_TOKEN, GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_STEP_SUMMARY, GITHUB_OUTPUT, RUNNER_TEMP: as GitHub sets them
# Needs bash, git, curl and jq. Exits with 1 if the board has problems that FAIL_ON names.
set -euo pipefail

ralph=${RALPH:-ralph}
fail_on=${FAIL_ON:-error}
marker='<!-- ralph-board-check -->'

say() { printf '%s\n' "$*"; }
fail() {
  say "::error::$1"
  exit 1
}

case "$fail_on" in
  error | warning | never) ;;
  *) fail "fail-on must be error, warning or never, not \"$fail_on\"" ;;
esac
for tool in git curl jq; do
  command -v "$tool" >/dev/null || fail "$tool is not installed"
done

work=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/ralph-board-XXXXXX")
output=${GITHUB_OUTPUT:-/dev/null}
summary=${GITHUB_STEP_SUMMARY:-/dev/null}

is_commit() {
  git cat-file -e "$1^{commit}" 2>/dev/null
}

# Titles and file names come from the pull request. What looks like a workflow command in them is not run.
show_untrusted() {
  local token
  token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  say "::stop-commands::$token"
  cat "$1"
  say "::$token::"
}

# The revisions to compare. For a pull request, GitHub checks out a merge of the base and the head: its first parent is the
# base that was merged, which may be newer than the base that the event names.
find_revisions() {
  head=$(git rev-parse --verify --quiet 'HEAD^{commit}') || fail "there is no commit here; use actions/checkout first"
  local second
  second=$(git rev-parse --verify --quiet 'HEAD^2' || true)
  if [ -n "$second" ] && [ "$second" = "${HEAD_SHA:-}" ]; then
    base=$(git rev-parse 'HEAD^1')
  elif [ -n "${BASE_SHA:-}" ]; then
    is_commit "$BASE_SHA" || git fetch --quiet --no-tags --depth=1 origin "$BASE_SHA" 2>/dev/null || true
    is_commit "$BASE_SHA" || fail "the base commit $BASE_SHA is not in this clone; set fetch-depth: 0 for actions/checkout"
    base=$(git merge-base "$BASE_SHA" "$head") || base=$BASE_SHA
  else
    base=$(git rev-parse --verify --quiet 'HEAD^1') ||
      fail "the commit before HEAD is not in this clone; set fetch-depth: 2 or 0 for actions/checkout"
  fi
}

has_board() {
  git cat-file -e "$1:.ralph" 2>/dev/null
}

# check FILE OPTIONS...: what `ralph doctor` finds goes to FILE. 0 and 1 are its answers, anything else is a failure.
check() {
  local file=$1 status=0
  shift
  "$ralph" --color never doctor --at "$head" --since "$base" "$@" >"$file" 2>"$work/stderr" || status=$?
  if [ "$status" -gt 1 ]; then
    show_untrusted "$work/stderr"
    fail "ralph could not check the board (exit $status)"
  fi
  return "$status"
}

# An annotation for each finding, at its file and line. jq escapes what a workflow command would read as its end.
annotate() {
  jq -r '
    def data: gsub("%"; "%25") | gsub("\r"; "%0D") | gsub("\n"; "%0A");
    def property: data | gsub(":"; "%3A") | gsub(","; "%2C");
    .findings[:20][]
    | "::\(.severity) title=\(.code | property)"
      + (if .file then ",file=\(.file | property)" else "" end)
      + (if .line then ",line=\(.line)" else "" end)
      + "::\(.message | data)"
  ' "$work/findings.json"
}

write_report() {
  local folder=$work/report
  mkdir "$folder"
  if "$ralph" report --html "$folder/board.html" >/dev/null 2>"$work/stderr"; then
    say "report=$folder/board.html" >>"$output"
  else
    say "::warning::the HTML report could not be written"
    show_untrusted "$work/stderr"
  fi
}

write_comment() {
  {
    say "$marker"
    say "### Board"
    say
    cat "$work/diff.md"
    say
    say "### Check"
    say
    cat "$work/findings.md"
  } >"$work/comment.md"
}

# api METHOD PATH [JSON_FILE]: the answer is in $work/answer.json, the status in $status. The token is not on the command line.
api() {
  local data=()
  if [ -n "${3:-}" ]; then data=(--data-binary "@$3"); fi
  status=$(
    printf 'header = "Authorization: Bearer %s"\n' "$GITHUB_TOKEN" |
      curl --silent --show-error --config - --request "$1" --max-time 30 \
        --header 'Accept: application/vnd.github+json' --header 'X-GitHub-Api-Version: 2022-11-28' \
        --header 'Content-Type: application/json' --output "$work/answer.json" --write-out '%{http_code}' \
        ${data[@]+"${data[@]}"} "${GITHUB_API_URL:-https://api.github.com}$2" 2>"$work/stderr"
  ) || status=000
}

# explain WHAT: why a call failed. The board is what is checked, so this never fails the job.
explain() {
  case "$status" in
    401 | 403 | 404)
      say "::notice::$1: the token may not do that (HTTP $status). A comment needs \`pull-requests: write\`, which pull requests from forks do not get."
      ;;
    000) say "::warning::$1: $(head -n 1 "$work/stderr")" ;;
    *) say "::warning::$1: GitHub answered HTTP $status" ;;
  esac
}

# Our comment from an earlier run: somebody else's with the same marker is not ours.
find_comment() {
  local page=1 author=${COMMENT_AUTHOR:-github-actions[bot]}
  comment_id=
  while [ -z "$comment_id" ]; do
    api GET "/repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments?per_page=100&page=$page"
    [ "$status" = 200 ] || return 1
    comment_id=$(jq -r --arg marker "$marker" --arg author "$author" \
      '[.[] | select(.user.login == $author and (.body | startswith($marker)))][0].id // empty' "$work/answer.json")
    [ "$(jq length "$work/answer.json")" = 100 ] || break
    page=$((page + 1))
  done
}

comment() {
  if ! find_comment; then
    explain "the comments of the pull request could not be read"
    return
  fi
  if [ -z "$comment_id" ] && git diff --quiet "$base" "$head" -- .ralph && [ "$found" = 0 ]; then
    say "the board did not change: no comment"
    return
  fi
  jq -Rs '{body: .}' "$work/comment.md" >"$work/comment.json"
  if [ -n "$comment_id" ]; then
    api PATCH "/repos/$GITHUB_REPOSITORY/issues/comments/$comment_id" "$work/comment.json"
  else
    api POST "/repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments" "$work/comment.json"
  fi
  case "$status" in
    200) say "updated the comment on the pull request" ;;
    201) say "commented on the pull request" ;;
    *) explain "the pull request could not be commented" ;;
  esac
}

find_revisions
if ! has_board "$head" && ! has_board "$base"; then
  say "::notice::there is no ralph board in this repository"
  exit 0
fi
has_board "$head" || fail "the pull request removes the board (.ralph)"

found=0
strict=()
if [ "$fail_on" = warning ]; then strict=(--strict); fi
check "$work/findings.txt" ${strict[@]+"${strict[@]}"} || found=1
check "$work/findings.json" --json || true
check "$work/findings.md" --markdown || true
"$ralph" --color never task diff "$base" "$head" --markdown >"$work/diff.md"
say "checked $head against $base"
show_untrusted "$work/findings.txt"
annotate

write_comment
cat "$work/comment.md" >>"$summary"
say "errors=$(jq .errors "$work/findings.json")" >>"$output"
say "warnings=$(jq .warnings "$work/findings.json")" >>"$output"
if [ "${REPORT:-true}" = true ]; then write_report; fi
if [ "${COMMENT:-true}" = true ] && [ -n "${PULL_REQUEST:-}" ]; then
  if [ -n "${GITHUB_TOKEN:-}" ]; then comment; else say "::notice::no token: the pull request is not commented"; fi
fi
if [ "$found" = 1 ] && [ "$fail_on" != never ]; then
  say "::error::the board has problems: $(tail -n 1 "$work/findings.txt")"
  exit 1
fi
