import { OptionalKind } from '@sinclair/typebox'
import type { AnyElysia } from 'elysia'
import type { OpenApiOptions } from './openapi.ts'
import { isRecord } from './schema.ts'

/**
 * The document that the build puts into the binary: a line with the print of what it was made of,
 * then its text, packed. Making it takes a second, finding out whether it is the one in force less
 * than a tenth.
 */
export const documentName = 'openapi-document'

const lineFeed = 10

/** The document of this program; undefined where it runs from source. */
const embedded = () =>
  (Bun.embeddedFiles as (Blob & { name: string })[]).find(file =>
    file.name.startsWith(documentName),
  )

/** The shipped document, where it says what these routes and settings would: undefined elsewhere. */
export async function shippedDocument(
  app: AnyElysia,
  options: OpenApiOptions,
  shipped: Blob | undefined = embedded(),
): Promise<string | undefined> {
  if (!shipped) return undefined
  const bytes = new Uint8Array(await shipped.arrayBuffer())
  const lineEnd = bytes.indexOf(lineFeed)
  const print = new TextDecoder().decode(bytes.subarray(0, lineEnd))
  if (print !== printOf(app, options)) return undefined
  return new TextDecoder().decode(Bun.zstdDecompressSync(bytes.subarray(lineEnd + 1)))
}

/** A document to ship, made of these routes and settings. */
export const documentToShip = (text: string, app: AnyElysia, options: OpenApiOptions): Blob =>
  new Blob([`${printOf(app, options)}\n`, Bun.zstdCompressSync(text, { level: 19 })])

/** Says in a word what a document is made of: two that differ in anything have another word. */
function printOf(app: AnyElysia, options: OpenApiOptions): string {
  const routes = app.routes
    .filter(({ hooks }) => hooks.detail?.hide !== true)
    .map(({ method, path, hooks }) => {
      const { detail, body, query, params, headers, response, standaloneValidator } = hooks
      const bodies = [body, ...partsOf(standaloneValidator)]
      const optional = bodies.map(schema => isRecord(schema) && OptionalKind in schema)
      const schemas = { body, optional, query, params, headers, response, standaloneValidator }
      return [method, path, detail, schemas]
    })
  return Bun.hash.wyhash(JSON.stringify([options, routes])).toString(36)
}

const partsOf = (layers: unknown): unknown[] =>
  Array.isArray(layers) ? layers.filter(isRecord).map(({ body }) => body) : []
