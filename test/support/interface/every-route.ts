import type { Database } from 'bun:sqlite'
import Ajv from 'ajv'
import addFormats from 'ajv-formats'
import type { OpenApiDocument, Operation } from '../../../src/http/openapi/openapi.ts'
import { withParametersInPlace } from '../../../src/http/openapi/parameters.ts'
import listed from '../../operations/interface.json'
import type { DemoInstance } from '../instance/demo-instance.ts'
import { undocumentedFields } from './documented-fields.ts'

/** A route of the list of all routes. */
export interface Row {
  method: string
  path: string
  access: string
  sample: string | null
  success: number
  body?: unknown
}

export const rows = listed as Row[]

/** No window and no quota stops thousands of requests. */
export const boundless: Record<string, string> = Object.fromEntries([
  ...[
    'per_minute',
    'unauthenticated_per_minute',
    'over_quota_per_minute',
    'marine_per_minute',
    'marine_historical_per_minute',
  ].map(name => [`limits.${name}`, '1000000']),
  ['demo.limit_per_hour', '1000000'],
])

export const sampleId = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
export const nobodysId = sampleId(999_999)

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

const withoutNames = (path: string) => path.replace(/\{\w+\}/g, '{}')

export interface Documented {
  method: string
  path: string
  operation: Operation
  access: string
}

export async function documentOf(instance: DemoInstance): Promise<OpenApiDocument> {
  const answer = await instance.ask('GET', '/openapi.json', { key: null })
  return withParametersInPlace((await answer.json()) as OpenApiDocument)
}

/** Every operation of the document, with who may call it. */
export function operationsOf(document: OpenApiDocument): Documented[] {
  return Object.entries(withParametersInPlace(document).paths).flatMap(([path, item]) =>
    Object.entries(item).map(([lower, operation]) => {
      const method = lower.toUpperCase()
      const row = rows.find(
        row => row.method === method && withoutNames(row.path) === withoutNames(path),
      )
      return { method, path, operation, access: row?.access ?? accessOf(operation) }
    }),
  )
}

const accessOf = ({ security }: Operation) =>
  security?.length === 0
    ? 'keyless'
    : security?.some(scheme => 'operatorToken' in scheme)
      ? 'operator'
      : 'key'

/**
 * How a response violates the document for its operation and status; undefined where it does not.
 */
export function answerChecker(document: OpenApiDocument) {
  const schemas = new Ajv({ strict: false, allErrors: true })
  addFormats(schemas)
  schemas.addSchema({ ...document, $id: 'document' })
  const pointer = (path: string) =>
    encodeURIComponent(path.replaceAll('~', '~0').replaceAll('/', '~1'))
  return (
    { method, path, operation }: Documented,
    status: number,
    type: string,
    text: string,
  ): string | undefined => {
    const described = operation.responses[String(status)] ?? operation.responses.default
    if (!described) return `${status} is not documented: ${text.slice(0, 300)}`
    // NDJSON as a whole is not JSON.
    if (!/[/+]json\b/.test(type) || !described.content?.['application/json']) return undefined
    const at = `document#/paths/${pointer(path)}/${method.toLowerCase()}/responses/${operation.responses[String(status)] ? status : 'default'}/content/application~1json/schema`
    const fits = schemas.getSchema(at) ?? schemas.compile({ $ref: at })
    const body = parsed(text)
    if (body === undefined)
      return `${status} is not JSON: ${text.length} characters, ${text.slice(0, 200)} … ${text.slice(-200)}`
    if (!fits(body))
      return `${status} breaks its schema: ${schemas.errorsText(fits.errors?.slice(0, 3))}: ${text.slice(0, 300)}`
    const extra = undocumentedFields(document, described.content['application/json'].schema, body)
    return extra.length > 0 ? `${status} has undocumented fields: ${extra.join(', ')}` : undefined
  }
}

const innards: readonly RegExp[] = [
  /(?:\n|\\n)\s+at /,
  /SQLITE_|SQLiteError|bun:sqlite|near "[^"]*": syntax error|\b(?:SELECT|DELETE) .{0,200}\bFROM \w|INSERT INTO|UNIQUE constraint|no such (?:table|column)/,
  /node_modules|\/src\/\w+\/|\.ts:\d+|wellhead\.db/,
  /\b(?:Type|Reference|Range|Syntax|Validation)Error\b|is not a function|(?:undefined|null) is not an object|Cannot read propert|Expected (?:union|property|required)/,
]

/**
 * A stack, a statement, a path of the machine or a message of the runtime, where an answer shows
 * any.
 */
export function innardsIn(text: string, instance: DemoInstance): string | undefined {
  if (text.includes(instance.dir) || text.includes(process.cwd())) return 'a path of the machine'
  for (const pattern of innards) {
    const match = pattern.exec(text)
    if (match) return text.slice(Math.max(0, match.index - 60), match.index + 100)
  }
  return undefined
}

/** Tables of data that is everybody's, and of counts that every answered request moves. */
const unowned =
  /^(?:sqlite_|series|aliases|observations|observation_revisions|bars|futures_|surcharge|permit_|well_|wells|frac_|rig_|duc_|drilling_|opec_|inventory_|outlook_|monthly_|cot_|annotations|diesel_|state_production|usage_|quota_counters)/

/** Every row of every table that holds what belongs to someone, as text, by table. */
export function stateOf(db: Database): Record<string, string> {
  const tables = db
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name",
    )
    .all()
  // How far demo data is published belongs to no one.
  const rowsOf = (name: string) =>
    (db.query(`SELECT * FROM "${name}"`).all() as Record<string, unknown>[]).filter(
      row => name !== 'settings' || !String(row.name).startsWith('fixture.'),
    )
  return Object.fromEntries(
    tables
      .filter(({ name }) => !unowned.test(name))
      .map(({ name }) => [
        name,
        rowsOf(name)
          .map(value => JSON.stringify(value, bytesAsText))
          .join('\n'),
      ]),
  )
}

const bytesAsText = (_: string, value: unknown) =>
  value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value

/** The path of the document for a path of the list, whatever its parameters are called there. */
export const documentedPath = (document: OpenApiDocument, path: string): string =>
  Object.keys(document.paths).find(documented => withoutNames(documented) === withoutNames(path)) ??
  path

/** Undefined: the text is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
