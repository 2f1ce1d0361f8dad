import { shellQuoted } from '../../lib/text/shell.ts'
import type { CommandRow } from './table.ts'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** The completion script of a shell. */
export function completion(shell: Shell, name: string, rows: readonly CommandRow[]): string {
  const table = tableOf(rows)
  if (shell === 'bash') return bash(name, table)
  return shell === 'zsh' ? zsh(name, table) : fish(name, table)
}

interface Entry {
  /** The words before. */
  path: string
  word: string
  description: string
  /** An option that is followed by a value. */
  takesValue: boolean
}

/** Every word that may follow some words. */
function tableOf(rows: readonly CommandRow[]): Entry[] {
  const entries = new Map<string, Entry>()
  const add = (entry: Entry) => {
    const key = `${entry.path} ${entry.word}`
    if (!entries.has(key)) entries.set(key, entry)
  }
  for (const { words, description, options } of rows) {
    for (const [i, word] of words.entries())
      add({
        path: words.slice(0, i).join(' '),
        word,
        description: i === words.length - 1 ? description : '',
        takesValue: false,
      })
    for (const option of options)
      add({
        path: words.join(' '),
        word: option.long,
        description: option.description,
        takesValue: option.takesValue,
      })
  }
  return [...entries.values()]
}

const pathsOf = (entries: readonly Entry[]) => Map.groupBy(entries, entry => entry.path)

/** The words of the command line that name the command, as each of the shells finds them. */
const bashCommand = (names: readonly string[]) => `  local path= word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
      ${names.map(name => `'${name}'`).join('|')}) path="\${path:+$path }$word" ;;
    esac
  done`

const commandNames = (entries: readonly Entry[]): string[] =>
  entries
    .filter(entry => !entry.word.startsWith('-'))
    .map(entry => (entry.path === '' ? entry.word : `${entry.path} ${entry.word}`))

const bash = (name: string, entries: readonly Entry[]): string =>
  `# bash completion for ${name}
_${name}() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} words=
${bashCommand(commandNames(entries))}
  case "$path $previous" in
    ${entries
      .filter(entry => entry.takesValue)
      .map(({ path, word }) => `'${path} ${word}'`)
      .join('|')}) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  case "$path" in
${[...pathsOf(entries)]
  .map(([path, each]) => `    '${path}') words='${each.map(({ word }) => word).join(' ')}' ;;`)
  .join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ "\${#COMPREPLY[@]}" -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))
}
complete -o filenames -F _${name} ${name}
`

const zsh = (name: string, entries: readonly Entry[]): string =>
  `#compdef ${name}
# zsh completion for ${name}
_${name}() {
  local path_= word
  local -a choices
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${path_:+$path_ }$word" in
      ${commandNames(entries)
        .map(each => shellQuoted(each))
        .join('|')}) path_="\${path_:+$path_ }$word" ;;
    esac
  done
  case "$path_" in
${[...pathsOf(entries)]
  .map(
    ([path, each]) =>
      `    ${shellQuoted(path)}) choices=(${each
        .map(({ word, description }) =>
          shellQuoted(`${word}:${description.replaceAll(':', '\\:')}`),
        )
        .join(' ')}) ;;`,
  )
  .join('\n')}
  esac
  _describe '${name}' choices || _files
}
if [ "$funcstack[1]" = "_${name}" ]; then _${name} "$@"; else compdef _${name} ${name}; fi
`

const fish = (name: string, entries: readonly Entry[]): string =>
  `# fish completion for ${name}
function __${name}_at
  set -l path
  for word in (commandline -opc)[2..-1]
    set -l next (string join ' ' $path $word)
    switch "$next"
      case ${commandNames(entries)
        .map(each => shellQuoted(each))
        .join(' ')}
        set path $path $word
    end
  end
  test (string join ' ' $path) = "$argv[1]"
end
${entries
  .map(({ path, word, description, takesValue }) => {
    const where = `complete -c ${name} -n ${shellQuoted(`__${name}_at "${path}"`)}`
    const described = description === '' ? '' : ` -d ${shellQuoted(description)}`
    return word.startsWith('--')
      ? `${where} -l ${word.slice(2)}${takesValue ? ' -r' : ''}${described}`
      : `${where} -a ${shellQuoted(word)}${described}`
  })
  .join('\n')}
`
