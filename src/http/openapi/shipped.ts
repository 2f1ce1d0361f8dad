import { embeddedFile, readShippedFile, shippedFile } from '../../lib/files/shipped-file.ts'
import { nextTurn } from '../../lib/process/loop-turns.ts'
import type { OpenApiOptions } from './openapi.ts'
import { isOptional, type Registered } from './source.ts'

/**
 * The document that the build puts into the binary: a line with the fingerprint of its inputs, then
 * its text, packed. Making it takes a second, checking the fingerprint less than a tenth.
 */
export const documentName = 'openapi-document'

/** The shipped document, if it matches these routes and settings; otherwise undefined. */
export async function shippedDocument(
  app: Registered,
  options: OpenApiOptions,
  shipped: Blob | undefined = embeddedFile(documentName),
): Promise<string | undefined> {
  if (!shipped) return undefined
  const { line, content } = await readShippedFile(shipped)
  return line === (await printOf(app, options)) ? new TextDecoder().decode(content()) : undefined
}

/** A document to ship, made of these routes and settings. */
export const documentToShip = async (
  text: string,
  app: Registered,
  options: OpenApiOptions,
): Promise<Blob> => shippedFile(await printOf(app, options), text)

/** Between two turns of the event loop: so many routes take two milliseconds. */
const routesATurn = 25

/**
 * Leaves the mark of closed schemas out: Elysia sets it when a route is first requested, and the
 * document never contains it.
 */
const openOnly = (key: string, value: unknown) =>
  key === 'additionalProperties' && value === false ? undefined : value

/**
 * The fingerprint of the inputs of a document. It is computed route by route, because all of them
 * as one text are three megabytes, which would block a server.
 */
async function printOf(app: Registered, options: OpenApiOptions): Promise<string> {
  let print = Bun.hash.wyhash(JSON.stringify(options))
  const routes = app.routes.filter(({ hooks }) => hooks.detail?.hide !== true)
  for (const [index, { method, path, hooks }] of routes.entries()) {
    if (index % routesATurn === routesATurn - 1) await nextTurn()
    const { body, query, params, headers, detail } = hooks
    const parts = [method, path, detail, body, isOptional(body), query, params, headers]
    print = Bun.hash.wyhash(JSON.stringify(parts, openOnly), print)
  }
  return print.toString(36)
}
