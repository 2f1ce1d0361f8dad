import { type Argument, Option } from 'commander'
import { oneOf, wrongValue } from '../lib/text/wrong-value.ts'

/** Accepts one of the words; an error names the others and the nearest. */
const accepted = (name: string, words: readonly string[]) => (value: string) => {
  if (words.includes(value)) return value
  throw new Error(wrongValue(name, oneOf(words), value, words))
}

/** An option that takes one of these words. */
export const wordOption = (flags: string, about: string, words: readonly string[]): Option => {
  const option = new Option(flags, about).choices(words)
  return option.argParser(accepted(option.long!, words))
}

/** An argument that takes one of these words. */
export const wordArgument = (argument: Argument, words: readonly string[]): Argument =>
  argument.choices(words).argParser(accepted(argument.name(), words))
