/** What each shell runs to ask `coffer __complete`. Where it proposes nothing, names of files are proposed. */

const BASH = `_coffer() {
  local value _rest
  COMPREPLY=()
  while IFS=$'\\t' read -r value _rest; do
    [ -n "$value" ] && COMPREPLY+=("$(printf '%q' "$value")")
  done < <(coffer __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o bashdefault -o default -F _coffer coffer
`;

const ZSH = `#compdef coffer
_coffer() {
  local line
  local -a proposals
  for line in "\${(@f)$(coffer __complete "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && proposals+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( $#proposals )); then
    _describe -V coffer proposals
  else
    _files
  fi
}
if [[ $funcstack[1] == _coffer ]]; then
  _coffer "$@"
else
  compdef _coffer coffer
fi
`;

const FISH = `function __coffer_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l proposals (coffer __complete $words[2..-1] 2>/dev/null)
    if test (count $proposals) -gt 0
        printf '%s\\n' $proposals
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c coffer -f -k -a '(__coffer_complete)'
`;

const POWERSHELL = `Register-ArgumentCompleter -Native -CommandName coffer -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
    if ($wordToComplete -eq '') { $words += '' }
    coffer __complete @words 2>$null | ForEach-Object {
        $value, $brief = $_ -split "\`t", 2
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $brief)
    }
}
`;

export const SCRIPTS: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH, powershell: POWERSHELL };
