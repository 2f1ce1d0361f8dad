import { shown } from '../../datasets/cell.ts'
import { isObject } from '../../lib/text/json.ts'
import type { Source } from '../files/source.ts'
import { spooled, wholeOf } from './spool.ts'

const documentBytesMax = 256 * 1024 * 1024
const depthMax = 4
const nestingMax = 4
const agencyPath = 'response.data'

type Records = readonly unknown[]

/** A document of JSON that has been read, and the records in it. */
export interface JsonDocument {
  body: unknown
  /** Where the records are, as after `--records`; empty for the document itself. */
  path: string
  records: Records
}

/**
 * The records of a document: those at `path`, or the only list of objects in it. Throws a sentence
 * that names the lists there are.
 */
export async function jsonDocument(source: Source, path?: string): Promise<JsonDocument> {
  const body = parsed(source, await wholeOf(source, documentBytesMax))
  if (path !== undefined) {
    const records = at(body, path)
    if (Array.isArray(records)) return { body, path, records: records as Records }
    throw new Error(
      `--records ${shown(path)}: there is ${records === undefined ? 'nothing' : 'no list'} there in ${source.name}${listed(listsIn(body))}`,
    )
  }
  // Responses of the Energy Information Administration repeat the request, which also contains
  // lists.
  const all = listsIn(body)
  const lists = all.some(list => list.path === agencyPath)
    ? all.filter(list => list.path === agencyPath)
    : all
  if (lists.length === 1) return { body, path: lists[0]!.path, records: lists[0]!.records }
  const refusal = refusalIn(body)
  if (refusal !== undefined && lists.length === 0)
    throw new Error(
      `${source.name} is the refusal of a publisher and has no data: ${shown(refusal)}`,
    )
  throw new Error(
    lists.length === 0
      ? `${source.name} has no list of objects: name the path of its rows, such as --records response.data`
      : `${source.name} has several lists of objects: name the one with the rows by --records${listed(lists)}`,
  )
}

function parsed(source: Source, bytes: Uint8Array): unknown {
  const text = new TextDecoder().decode(bytes)
  // Some publishers put other characters, such as a byte order mark, before the first bracket.
  const start = text.search(/[[{]/)
  try {
    return JSON.parse(text.slice(Math.max(0, start)))
  } catch (error) {
    throw new Error(
      `${source.name} starts like JSON and must be valid JSON to its end: ${(error as Error).message}`,
    )
  }
}

function at(body: unknown, path: string): unknown {
  let value: unknown = body
  for (const name of path.split('.').filter(part => part !== '')) {
    if (Array.isArray(value)) value = (value as Records)[Number(name)]
    else value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
  }
  return value
}

interface List {
  path: string
  records: Records
}

/** Every list of objects that is not within another, including the document itself. */
function listsIn(body: unknown, path = '', depth = 0): List[] {
  if (Array.isArray(body)) {
    const records = body as Records
    const isRecord = (value: unknown) => isObject(value) || (path === '' && Array.isArray(value))
    return records.length > 0 && records.every(isRecord) ? [{ path, records }] : []
  }
  if (!isObject(body) || depth >= depthMax) return []
  const inside = (name: string) => (path === '' ? name : `${path}.${name}`)
  const lists = Object.entries(body).flatMap(([name, value]) =>
    listsIn(value, inside(name), depth + 1),
  )
  // An answer without rows has its list all the same.
  const empty = Object.entries(body).filter(
    ([name, value]) => name === 'data' && Array.isArray(value) && value.length === 0,
  )
  return [...lists, ...empty.map(([name]) => ({ path: inside(name), records: [] }))]
}

const listed = (lists: readonly List[]) =>
  lists.length > 0 ? `; there are ${lists.map(({ path }) => path || '.').join(', ')}` : ''

function refusalIn(body: unknown): string | undefined {
  if (!isObject(body)) return undefined
  const { error, message } = body
  if (typeof error === 'string') return error
  if (isObject(error)) return String(error.message ?? error.code ?? 'error')
  return typeof message === 'string' ? message : undefined
}

/** The records of a document, one JSON object a line: record n is on line n. */
export const recordSource = (
  source: Source,
  directory: string,
  records: Records,
): Promise<Source> => spooled(source, directory, linesOf(records))

function* linesOf(records: Records): Generator<string> {
  for (const record of records) yield `${JSON.stringify(flat(record))}\n`
}

/** Members of objects in a record are named by their path; the values of a list by their place, from 1. */
function flat(record: unknown): unknown {
  if (Array.isArray(record))
    return Object.fromEntries((record as Records).map((value, i) => [String(i + 1), value]))
  if (!isObject(record) || !Object.values(record).some(isObject)) return record
  const members: Record<string, unknown> = {}
  const add = (prefix: string, fields: Readonly<Record<string, unknown>>, depth: number) => {
    for (const [name, value] of Object.entries(fields)) {
      if (isObject(value) && depth < nestingMax) add(`${prefix}${name}.`, value, depth + 1)
      else members[prefix + name] = value
    }
  }
  add('', record, 0)
  return members
}
