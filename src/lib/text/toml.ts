import { parse, TomlError } from 'smol-toml'

export type Table = Readonly<Record<string, unknown>>

export const isTable = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)

/** Lines and columns count from 1; a fault never quotes the text, which may hold secrets. */
export type Toml =
  | { table: Table; lineOf(name: string): number | undefined }
  | { fault: string; line: number; column: number }

/**
 * Parses TOML and knows on which line each dotted name is first set; `x[1].y` is the `y` under the
 * second `[[x]]`.
 */
export function parseToml(text: string): Toml {
  try {
    const table = parse(text)
    const lines = linesOf(text)
    return {
      table,
      lineOf: name =>
        lines.get(name) ?? [...lines].find(([longer]) => longer.startsWith(`${name}.`))?.[1],
    }
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    // The lines after the first quote the text.
    const fault = error.message.split('\n', 1)[0]!.replace(/^Invalid TOML document: /, '')
    return { fault, line: error.line, column: error.column }
  }
}

/**
 * A text that parses as a whole is cut into statements, the shortest runs of lines that parse
 * alone, so that strings and lists of several lines are read by the same rules as the text itself.
 */
function linesOf(text: string): Map<string, number> {
  const lines = new Map<string, number>()
  const entries = new Map<string, number>()
  let header = ''
  let statement = ''
  let start = 1
  for (const [index, line] of text.split('\n').entries()) {
    if (statement === '') start = index + 1
    statement += `${line}\n`
    const names = namesIn(statement)
    if (!names) continue
    const isHeader = statement.trimStart().startsWith('[')
    for (const name of names) {
      const full = isHeader ? name : header + name
      if (!lines.has(full)) lines.set(full, start)
    }
    if (isHeader) header = `${names[0]}.`
    if (statement.trimStart().startsWith('[[')) {
      const name = names[0]!
      const nth = entries.get(name) ?? 0
      entries.set(name, nth + 1)
      lines.set(`${name}[${nth}]`, start)
      header = `${name}[${nth}].`
    }
    statement = ''
  }
  return lines
}

function namesIn(statement: string): string[] | undefined {
  try {
    return [...leaves(parse(statement), '')]
  } catch {
    return undefined
  }
}

function* leaves(table: Table, prefix: string): Generator<string> {
  for (const [part, value] of Object.entries(table)) {
    if (isTable(value) && Object.keys(value).length > 0) yield* leaves(value, `${prefix}${part}.`)
    else yield prefix + part
  }
}
