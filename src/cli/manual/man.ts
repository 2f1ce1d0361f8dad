import type { CommandRow } from './table.ts'

/** Text as roff takes it: a hyphen that is no line break, no request at the start of a line. */
const roff = (text: string) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1')

/** The page of a program for `man`, section 1. */
export function manualPage(
  { name, description, version }: { name: string; description: string; version: string },
  rows: readonly CommandRow[],
): string {
  const commands = rows.flatMap(row => {
    const usage = [name, ...row.words, ...row.arguments].join(' ')
    const options = row.options.flatMap(({ flags, description: text }) => [
      '.TP',
      `\\fB${roff(flags)}\\fR`,
      roff(text),
    ])
    const samples = row.examples.flatMap(text => ['.PP', '.RS', '.nf', roff(text), '.fi', '.RE'])
    return [`.SS ${roff(usage)}`, `${roff(row.description)}.`, ...options, ...samples]
  })
  return `${[
    `.TH ${name.toUpperCase()} 1 "" "${name} ${version}" "User Commands"`,
    '.SH NAME',
    `${name} \\- ${roff(description)}`,
    '.SH SYNOPSIS',
    `.B ${name}`,
    '\\fICOMMAND\\fR [\\fIOPTIONS\\fR]',
    '.SH DESCRIPTION',
    roff(
      `A server with its whole state in one directory, and the commands that look after it. While a server runs, commands ask it through a socket in that directory; without one they open the database themselves.`,
    ),
    '.SH COMMANDS',
    ...commands,
    '.SH CONFIGURATION',
    roff(
      `Flags come before WELLHEAD_ variables, before wellhead.toml in the data directory or the working directory, before defaults. "${name} config explain" shows each setting in force, what it means and where it comes from.`,
    ),
    '.SH EXIT STATUS',
    '0: done. 1: refused or failed, with the reason on standard error. 75: another process has the data directory.',
  ].join('\n')}\n`
}
