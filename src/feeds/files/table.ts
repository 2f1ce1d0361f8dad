import { shown } from '../../datasets/cell.ts'
import { fieldsOf, separatorOf } from './csv.ts'
import { type Block, recordsOf } from './records.ts'
import { contentOf, headOf, type Source } from './source.ts'

/** The separators of records in a file. */
export interface FileSyntax {
  source: Source
  format: 'csv' | 'ndjson'
  /** The separator of CSV; NDJSON ignores it. */
  separator: string
  /** 10, or 13 for files that end their lines with a carriage return alone. */
  lineEnd: number
}

/** The beginning of a file. */
export interface FileHead {
  syntax: FileSyntax
  /** The first bytes as text. */
  text: string
  /** In CSV the names of the columns or already a row; it may have line breaks inside quotes. */
  firstRecord: string
}

/** Reads the first bytes of a source. Throws a sentence that names the file. */
export async function fileHeadOf(source: Source): Promise<FileHead> {
  const text = new TextDecoder().decode(await headOf(source))
  const start = text.trimStart()
  if (start === '') throw new Error(`${source.name} is empty`)
  if (start.startsWith('['))
    throw new Error(`${source.name} is one JSON array: write one object a line (NDJSON)`)
  const lineEnd = text.includes('\n') || !text.includes('\r') ? 10 : 13
  const firstLine = linesOf(text, lineEnd).find(line => line.trim() !== '')!
  if (start.startsWith('{'))
    return {
      syntax: { source, format: 'ndjson', separator: ',', lineEnd },
      text,
      firstRecord: firstLine,
    }
  const syntax: FileSyntax = { source, format: 'csv', separator: separatorOf(firstLine), lineEnd }
  return { syntax, text, firstRecord: await firstRecordOf(syntax, text, firstLine) }
}

/** The lines of a text, by the line end of its file. */
export const linesOf = (text: string, lineEnd: number): string[] =>
  text.split(lineEnd === 10 ? /\r?\n/ : '\r')

async function firstRecordOf(syntax: FileSyntax, text: string, firstLine: string): Promise<string> {
  for await (const block of recordsOf(single(text), framingOf(syntax))) return recordText(block, 0)
  return firstLine
}

async function* single(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

const framingOf = ({ source, format, separator, lineEnd }: FileSyntax) => ({
  name: source.name,
  separator: format === 'csv' ? separator.charCodeAt(0) : undefined,
  lineEnd,
})

/** Every record of a file, block by block; `hasHeader`: the first is the names of the columns. */
export async function* blocksOf(
  syntax: FileSyntax & { hasHeader: boolean },
  received?: (bytes: Uint8Array) => void,
): AsyncGenerator<Block> {
  let first = syntax.hasHeader ? 1 : 0
  for await (const block of recordsOf(contentOf(syntax.source, received), framingOf(syntax))) {
    block.first = first
    yield block
    first = 0
  }
}

export const recordText = (block: Block, i: number): string =>
  Buffer.from(
    block.bytes.buffer,
    block.bytes.byteOffset + block.starts[i]!,
    block.ends[i]! - block.starts[i]!,
  ).toString()

/** The fields of a CSV record, or a sentence about why they cannot be read. */
export function csvFieldsOf(text: string, separator: string, width: number): string[] | string {
  const fields = fieldsOf(text, separator)
  if (!fields)
    return 'the row has a quote that is not closed, or text after a closing quote: write a quote inside a field twice'
  if (fields.slice(width).some(field => field !== ''))
    return `the row has ${fields.length} fields where the first has ${width}: put a field that contains ${shown(separator)} in double quotes`
  return fields
}
