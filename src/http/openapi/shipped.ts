import type { AnyElysia } from 'elysia'
import { embeddedFile, readShippedFile, shippedFile } from '../../lib/files/shipped-file.ts'
import type { OpenApiOptions } from './openapi.ts'
import { isOptional, layersOf } from './source.ts'

/**
 * The document that the build puts into the binary: a line with the print of what it was made of,
 * then its text, packed. Making it takes a second, finding out whether it is the one in force less
 * than a tenth.
 */
export const documentName = 'openapi-document'

/** The shipped document, where it says what these routes and settings would: undefined elsewhere. */
export async function shippedDocument(
  app: AnyElysia,
  options: OpenApiOptions,
  shipped: Blob | undefined = embeddedFile(documentName),
): Promise<string | undefined> {
  if (!shipped) return undefined
  const { line, content } = await readShippedFile(shipped)
  return line === printOf(app, options) ? new TextDecoder().decode(content()) : undefined
}

/** A document to ship, made of these routes and settings. */
export const documentToShip = (text: string, app: AnyElysia, options: OpenApiOptions): Blob =>
  shippedFile(printOf(app, options), text)

/** Says in a word what a document is made of: two that differ in anything have another word. */
function printOf(app: AnyElysia, options: OpenApiOptions): string {
  const routes = app.routes
    .filter(({ hooks }) => hooks.detail?.hide !== true)
    .map(({ method, path, hooks }) => {
      const schemas = layersOf(hooks).map(({ body, query, params, headers, response }) => [
        { body, query, params, headers, response },
        isOptional(body),
      ])
      return [method, path, hooks.detail, schemas]
    })
  return Bun.hash.wyhash(JSON.stringify([options, routes])).toString(36)
}
