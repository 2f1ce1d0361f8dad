import { XMLBuilder } from 'fast-xml-parser'
import { t } from '../../../http/answer/schema.ts'
import type { KeyAccess } from '../../../http/gate/access-kind.ts'
import { preferredType } from '../../../http/input/accept.ts'
import { wordParameter } from '../../../http/input/typed.ts'
import { invalidParameter, type Problem } from '../../../http/problem/problem.ts'
import { sheetText } from '../../../lib/text/csv.ts'

/** The value of a cell of a sheet. */
export type Cell = string | number | boolean | null

/** A sheet's functions read at most this many characters of an answer, and of a cell. */
export const sheetCharactersMax = 32_767

export const xmlType = 'application/xml; charset=utf-8'

export const Xml = (root: string) =>
  t.string('The same as XML.', `<${root}><status>ok</status>…</${root}>`, {
    contentMediaType: 'application/xml',
  })

export const formatQuery = wordParameter(
  ['json', 'xml'],
  '`json` or `xml`; absent: as `Accept` says, otherwise JSON. Errors in XML return 200 with a word in `status`.',
  'json',
)

const types = ['application/json', 'application/xml', 'text/xml'] as const

/** Whether an answer is wanted as XML: by the path's suffix, `format=xml` or the Accept header. */
export function wantsXml(request: Request): boolean {
  const { pathname, searchParams } = new URL(request.url)
  if (pathname.replace(/\/$/, '').endsWith('.xml')) return true
  const format = searchParams.get('format')
  if (format) return format.toLowerCase() === 'xml'
  const type = preferredType(request.headers.get('accept'), types)
  return type === 'application/xml' || type === 'text/xml'
}

export function checkFormat(format: string | undefined): void {
  if (format && !['json', 'xml'].includes(format.toLowerCase()))
    throw invalidParameter('format', format, ['json', 'xml'])
}

/** A refusal in the one word that a sheet can compare. */
function statusOf({ status, code }: Problem) {
  if (status === 401) return 'auth_failed'
  if (status === 402) return 'quota_exceeded'
  if (status === 403) return 'forbidden'
  if (status === 404) return 'not_found'
  if (status === 429) return code === 'RATE_LIMIT_EXCEEDED' ? 'rate_limited' : 'quota_exceeded'
  return status < 500 ? 'invalid_request' : 'error'
}

/**
 * Metered access whose refusals are XML where XML is wanted: a sheet cannot read an answer that is
 * not 2xx.
 */
export const sheetAccess = (root: string, empty: () => Record<string, unknown>): KeyAccess => ({
  meter: true,
  passesParametersOn: true,
  refusalAnswer: (problem, request) =>
    wantsXml(request)
      ? {
          text: xml(root, { status: statusOf(problem), message: problem.message, ...empty() }),
          status: 200,
          contentType: xmlType,
        }
      : undefined,
})

const builder = new XMLBuilder({ ignoreAttributes: false })

// Characters that XML 1.0 does not allow, not even escaped.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to remove.
const forbidden = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g

/**
 * A document with the configured root; null and undefined become empty elements, texts cannot
 * become formulas.
 */
export const xml = (root: string, content: Record<string, unknown>): string =>
  builder.build({
    '?xml': { '@_version': '1.0', '@_encoding': 'UTF-8' },
    [root]: writable(content),
  })

function writable(value: unknown): unknown {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return inert(value).toWellFormed().replace(forbidden, '')
  if (Array.isArray(value)) return value.map(writable)
  if (typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, writable(inner)]))
  return value
}

/**
 * A text that a sheet shows and does not run: with an apostrophe before what would begin a formula.
 * Numbers are left as they are.
 */
export const inert = <T extends Cell>(cell: T): T | string =>
  typeof cell === 'string' ? sheetText(cell) : cell
