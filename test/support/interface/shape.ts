import { expect } from 'bun:test'
import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { InternalRoute } from 'elysia'
import { answersKey } from '../../../src/http/openapi/source.ts'
import type { App } from '../../../src/instance/app/app.ts'

/**
 * Fails unless a body matches the route's schema, bodies that their handler wrote as text included.
 */
export function expectShape(
  app: Pick<App, 'routes'>,
  path: string,
  body: unknown,
  status = 200,
): void {
  const route = (app.routes as InternalRoute[]).find(route => route.path === path)!
  const declared = answersOf(route)[status]!
  const schema = (declared['x-serialised'] ?? declared) as TSchema
  const faults = [...Value.Errors(schema, body)]
    .slice(0, 5)
    .map(error => `${error.path}: ${error.message}, not ${JSON.stringify(error.value)}`)
  expect(faults, path).toEqual([])
}

/** The body as what the test expects it to be; `expectShape` or its own lines hold it to that. */
export const json = async <T>(response: Response | Promise<Response>): Promise<T> =>
  (await (await response).json()) as T

/** The schemas of the answers that an operation declares, by status. */
export const answersOf = ({ hooks }: InternalRoute): Record<number, TSchema> =>
  (hooks as { detail: { [answersKey]: Record<number, TSchema> } }).detail[answersKey]
