import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateSource } from 'oazapfts'
import { type Document, operationsOf } from './operations.ts'

/** Parameters that are numbers may be written as numbers; the API reads them from text. */
function withNumbers(document: Document): Document {
  const copy = structuredClone(document)
  for (const operation of Object.values(copy.paths).flatMap(item => Object.values(item))) {
    for (const parameter of operation.parameters ?? []) {
      const isNumber = parameter.in === 'query' && /^-?\d+(\.\d+)?$/.test(String(parameter.example))
      if (isNumber) parameter.schema = { anyOf: [{ type: 'string' }, { type: 'number' }] }
    }
  }
  return copy
}

/**
 * The generated client has one set of defaults for the whole program. Its functions are put into a factory, so that each client has
 * its own address, key and way of sending.
 */
function asFactory(source: string): string {
  const firstFunction = source.indexOf('export function ')
  const start = source.lastIndexOf('/**', firstFunction)
  const [head, functions] = [source.slice(0, start), source.slice(start)]
  const types = head
    .replace(/export const defaults[\s\S]*?\n};\n/, '')
    .replace(/const oazapfts = [^\n]*\n/, '')
    .replace(/export const servers[\s\S]*?\n};\n/, '')
  const names = [...functions.matchAll(/^export function (\w+)/gm)].map(match => match[1])
  const body = functions
    .replace(/^export function /gm, 'function ')
    // No reserved words, and the API calls them so.
    .replace(/\$(from|type)\b/g, '$1')
    // The types of the package are its own: anyone who uses it has no other package.
    .replaceAll('opts?: Oazapfts.RequestOpts', 'opts?: RequestOptions')
    // A request that is done once however often it arrives may be sent again.
    .replaceAll(
      '"idempotency-key": idempotencyKey',
      '"idempotency-key": idempotencyKey ?? newIdempotencyKey()',
    )
  return [
    types,
    'import { type Fetch, newIdempotencyKey, type RequestOptions } from "./transport.ts";',
    'export function createOperations(settings: { baseUrl: string; fetch: Fetch }) {',
    'const defaults = { baseUrl: settings.baseUrl, headers: {}, fetch: settings.fetch as typeof fetch };',
    'const oazapfts = Oazapfts.runtime(defaults);',
    body,
    `return { ${names.join(', ')} };`,
    '}',
    '',
  ].join('\n')
}

function pagedText(document: Document): string {
  const entries = operationsOf(document).flatMap(({ id, rows, parameters }) => {
    if (!rows) return []
    const pathParameters = parameters.filter(parameter => parameter.in === 'path').length
    return [`  ${id}: { pathParameters: ${pathParameters}, rows: ${JSON.stringify(rows)} },`]
  })
  return [
    '/** Operations that answer pages: how many parameters are in the path, and where a page has its rows. */',
    'export const paged = {',
    ...entries,
    '} as const',
    '',
  ].join('\n')
}

/** The modules that are written from the document, by their file names. */
export async function typescriptModules(document: Document): Promise<Record<string, string>> {
  const directory = mkdtempSync(join(tmpdir(), 'wellhead-client-'))
  try {
    const path = join(directory, 'openapi.json')
    writeFileSync(path, JSON.stringify(withNumbers(document)))
    const source = await generateSource(path, { optimistic: true })
    return { 'operations.ts': asFactory(source), 'paged.ts': pagedText(document) }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
