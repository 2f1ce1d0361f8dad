import type { Command } from 'commander'
import { examples } from './examples.ts'

export interface CommandOption {
  /** `-o, --output <file>`, as help has it. */
  flags: string
  /** `--output`. */
  long: string
  description: string
  /** It is followed by a value. */
  takesValue: boolean
}

/** A command that does something. */
export interface CommandRow {
  /** Its words after the program's name. */
  words: readonly string[]
  description: string
  /** `<file>`, `[codes...]`. */
  arguments: readonly string[]
  options: readonly CommandOption[]
  examples: readonly string[]
}

const argumentText = (argument: Command['registeredArguments'][number]) => {
  const text = `${argument.name()}${argument.variadic ? '...' : ''}`
  return argument.required ? `<${text}>` : `[${text}]`
}

/** It only holds others. */
const isGroup = (command: Command) =>
  command.commands.length > 0 && command.registeredArguments.length === 0

/** All commands, in the order of help. */
export function commandTable(program: Command): CommandRow[] {
  const rows: CommandRow[] = []
  const walk = (command: Command, words: readonly string[]) => {
    if (words.length > 0 && !isGroup(command))
      rows.push({
        words,
        description: command.description(),
        arguments: command.registeredArguments.map(argumentText),
        options: command.options
          .filter(option => !option.hidden)
          .map(({ flags, long, description, required, optional }) => ({
            flags,
            long: long ?? flags,
            description,
            takesValue: required || optional,
          })),
        examples: (examples[words.join(' ')] ?? []).map(text => `${program.name()} ${text}`),
      })
    for (const each of command.commands) walk(each, [...words, each.name()])
  }
  walk(program, [])
  return rows
}

/** Appends examples to the help of every command. */
export function addExamples(program: Command): void {
  const walk = (command: Command, words: readonly string[]) => {
    const lines = examples[words.join(' ')]?.map(text => `  ${program.name()} ${text}`)
    if (lines) command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`)
    for (const each of command.commands) walk(each, [...words, each.name()])
  }
  walk(program, [])
}
