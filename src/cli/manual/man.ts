import { exitCodeMeanings } from '../exit-codes.ts'
import type { CommandRow } from './table.ts'

/**
 * Escapes text for roff: hyphens must not break lines, and a line must not start with a request.
 */
const roff = (text: string) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1')

const listed = (term: string, text: string) => ['.TP', `\\fB${roff(term)}\\fR`, roff(text)]

const environment: readonly (readonly [variable: string, meaning: string])[] = [
  ['WELLHEAD_DATA_DIR', 'Data directory, as --data.'],
  ['WELLHEAD_CONFIG', 'Configuration file, as --config.'],
  [
    'WELLHEAD_SECTION_KEY',
    'Any setting: WELLHEAD_SERVER_PORT for server.port. With the suffix _FILE it names a file that contains the value.',
  ],
  ['WELLHEAD_URL, WELLHEAD_API_KEY', 'The server and API key for client commands.'],
]

const manualFiles: readonly (readonly [path: string, meaning: string])[] = [
  ['/var/lib/wellhead', 'Data directory of the Debian package; wellhead-data elsewhere.'],
  ['/etc/wellhead/wellhead.toml', 'Configuration of the Debian package, for that directory.'],
  ['DIR/wellhead.toml', 'Configuration of a data directory, which takes precedence.'],
  ['DIR/wellhead.db, DIR/wellhead.db-wal', 'The database and its write-ahead log.'],
  ['DIR/master.key', 'Decrypts stored secrets. Backups do not include it.'],
]

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
      `A server that stores its state in one directory, and the commands that administer it. While a server runs, commands connect to it through a socket in that directory; otherwise they open the database directly.`,
    ),
    '.SH COMMANDS',
    ...commands,
    '.SH CONFIGURATION',
    roff(
      `Flags override WELLHEAD_ variables, which override the configuration file, which overrides defaults. "${name} config explain" shows each effective setting, its meaning and its source.`,
    ),
    '.SH EXIT STATUS',
    ...exitCodeMeanings.flatMap(([code, meaning]) => listed(String(code), meaning)),
    '.SH ENVIRONMENT',
    ...environment.flatMap(([variable, meaning]) => listed(variable, meaning)),
    '.SH FILES',
    ...manualFiles.flatMap(([path, meaning]) => listed(path, meaning)),
  ].join('\n')}\n`
}
