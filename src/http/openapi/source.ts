import { Kind, OptionalKind } from '@sinclair/typebox'
import type { InternalRoute } from 'elysia'
import { isRecord, type Schema } from './schema.ts'

export const documentedMethods = ['get', 'post', 'put', 'patch', 'delete']

/** Key of `detail` under which the gate puts the schemas of its refusals, by status. */
export const refusalsKey = 'x-refusals'

/** Key of `detail` under which an operation has the schemas of its answers, by status. */
export const answersKey = 'x-answers'

/** Key of `detail` under which an operation has the schema of a body that its handler reads itself. */
export const bodyKey = 'x-body'

/** An application with routes of the framework. */
export interface Registered {
  readonly routes: readonly InternalRoute[]
}

/** A documented route with the schemas that it declares. */
export interface DeclaredRoute {
  method: string
  path: string
  detail: Readonly<Record<string, unknown>>
  /** Headers, then those in the path, then those of the query. */
  parameters: readonly DeclaredParameter[]
  body: Schema | undefined
  isBodyOptional: boolean
  /** By status. */
  responses: Readonly<Record<string, unknown>>
}

export interface DeclaredParameter {
  name: string
  in: 'header' | 'path' | 'query'
  required: boolean
  schema: Schema
}

/** The routes that the document lists, in the order of the application. */
export const declaredRoutes = ({ routes }: Registered): DeclaredRoute[] =>
  routes
    .filter(
      ({ method, path, hooks }) =>
        documentedMethods.includes(method.toLowerCase()) &&
        !path.includes('*') &&
        hooks.detail?.hide !== true,
    )
    .map(({ method, path, hooks }) => {
      const layers = layersOf(hooks)
      const all = (part: string) =>
        layers.map(layer => layer[part]).filter(schema => schema !== undefined && schema !== null)
      const detail: Readonly<Record<string, unknown>> = isRecord(hooks.detail) ? hooks.detail : {}
      const body = [detail[bodyKey] ?? [], all('body')].flat().map(schemaIn)
      const responses = [detail[answersKey], ...all('response')]
        .filter(schema => schema !== undefined)
        .map(schema => (isRecord(schema) && !(Kind in schema) ? schema : { 200: schema }))
      return {
        method: method.toLowerCase(),
        path,
        detail,
        parameters: parametersOf(path, all),
        body: body.length > 1 ? { allOf: body } : body[0],
        isBodyOptional: body.every(isOptional),
        responses: Object.assign({}, ...responses.reverse()),
      }
    })

function parametersOf(path: string, all: (part: string) => unknown[]): DeclaredParameter[] {
  const [headers, declared, query] = [
    declaredIn('header', all('headers')),
    declaredIn('path', all('params')),
    declaredIn('query', all('query')),
  ]
  const undeclared = [...path.matchAll(/:(\w+)/g)]
    .map(([, name]) => name!)
    .filter(name => !declared.some(parameter => parameter.name === name))
    .map(name => ({ name, in: 'path' as const, required: true, schema: { type: 'string' } }))
  return [...undeclared, ...headers, ...declared, ...query]
}

/** The properties of schemas for one part of a request; an earlier schema wins. */
function declaredIn(place: DeclaredParameter['in'], schemas: unknown[]): DeclaredParameter[] {
  const parts = schemas
    .map(schemaIn)
    .flatMap(schema => [
      schema,
      ...(Array.isArray(schema.allOf) ? schema.allOf.filter(isRecord) : []),
    ])
  const required = new Set(parts.flatMap(part => part.required ?? []))
  const properties: Record<string, Schema> = Object.assign(
    {},
    ...parts.map(part => part.properties).reverse(),
  )
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: place,
    required: required.has(name),
    schema,
  }))
}

/**
 * A route's own schemas, then those that come from guards and macros, which are in
 * `standaloneValidator`.
 */
export const layersOf = (hooks: Record<string, unknown>): Record<string, unknown>[] =>
  [hooks, ...(Array.isArray(hooks.standaloneValidator) ? hooks.standaloneValidator : [])].filter(
    isRecord,
  )

/** Whether a part of a request may be left out. */
export const isOptional = (schema: unknown): boolean => isRecord(schema) && OptionalKind in schema

export function schemaIn(schema: unknown): Schema {
  if (isRecord(schema)) return schema
  throw new Error(
    `A route refers to its schema by name, '${schema}'; it must hold the schema itself.`,
  )
}
