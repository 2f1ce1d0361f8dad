import { OptionalKind } from '@sinclair/typebox'
import { Elysia, type InternalRoute } from 'elysia'
import { isRecord } from './schema.ts'

export const documentedMethods = ['get', 'post', 'put', 'patch', 'delete']

/**
 * Marks an operation with an optional body; OpenAPI 3.0.3 has a field for it that the plugin does
 * not write.
 */
export const optionalBodyKey = 'x-optional-body'

/** Key of `detail` under which the gate puts the schemas of its refusals, by status. */
export const refusalsKey = 'x-refusals'

/** Key of `detail` under which an operation has the schemas of its answers, by status. */
export const answersKey = 'x-answers'

/** An application with routes of the framework. */
export interface Registered {
  readonly routes: readonly InternalRoute[]
}

/**
 * The document of @elysiajs/swagger for the application's routes. The plugin is mounted on a
 * stand-in with the same routes and no handlers, so the served application has no extra route and
 * its hooks never run for it.
 */
export async function rawDocument(app: Registered): Promise<unknown> {
  // Loaded here, because its libraries would delay the start.
  const { swagger } = await import('@elysiajs/swagger')
  const specPath = '/-/document'
  const standIn = new Elysia()
  // Every operation has the same few refusals, which are larger than everything else together. The
  // plugin gets their indexes, so that it does not copy them.
  const refusals: unknown[] = []
  for (const { method, path, hooks } of app.routes) {
    if (documentedMethods.includes(method.toLowerCase()))
      standIn.route(method, path, () => undefined, documented(hooks, refusals))
  }
  standIn.use(swagger({ path: '/-/page', specPath, excludeStaticFile: false }))
  const response = await standIn.handle(new Request(`http://localhost${specPath}`))
  const document: unknown = await response.json()
  for (const operation of operationsOf(document)) {
    const places = operation[refusalsKey]
    if (isRecord(places)) operation[refusalsKey] = eachOf(places, place => refusals[Number(place)])
  }
  return document
}

const operationsOf = (document: unknown): Record<string, unknown>[] =>
  Object.values(isRecord(document) && isRecord(document.paths) ? document.paths : {}).flatMap(
    item => Object.values(isRecord(item) ? item : {}).filter(isRecord),
  )

const eachOf = (record: Record<string, unknown>, change: (value: unknown) => unknown) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))

/** The index of an item that is stored once. */
function placeIn(stored: unknown[], item: unknown): number {
  const at = stored.indexOf(item)
  return at === -1 ? stored.push(item) - 1 : at
}

/** Whether a part of a request may be left out. */
export const isOptional = (schema: unknown): boolean => isRecord(schema) && OptionalKind in schema

function documented(hooks: Record<string, unknown>, refusals: unknown[]): Record<string, unknown> {
  // Without a parser the plugin writes every schema three times, for each content type that Elysia
  // could parse.
  const { [answersKey]: answers, ...detail } = isRecord(hooks.detail) ? hooks.detail : {}
  const documentedHooks: Record<string, unknown> = {
    parse: 'json',
    detail: {
      ...detail,
      ...(isRecord(detail[refusalsKey]) && {
        [refusalsKey]: eachOf(detail[refusalsKey], schema => placeIn(refusals, schema)),
      }),
      [optionalBodyKey]: isOptional(hooks.body),
    },
  }
  for (const part of ['body', 'params', 'query', 'headers'])
    if (hooks[part] !== undefined) documentedHooks[part] = plain(hooks[part])
  if (isRecord(answers))
    documentedHooks.response = eachOf(answers, schema => wrapped(plain(schema)))
  return documentedHooks
}

// A copy: the plugin rewrites references inside the schemas it is given, and operations that share a
// schema refer to one object.
const plain = (schema: unknown): unknown => JSON.parse(JSON.stringify(schema))

// The plugin drops `additionalProperties` and more from objects and lists, but passes an `allOf` as
// it is.
const wrapped = (schema: unknown): unknown =>
  isRecord(schema) && !['void', 'undefined', 'null'].includes(String(schema.type))
    ? { allOf: [schema] }
    : schema
