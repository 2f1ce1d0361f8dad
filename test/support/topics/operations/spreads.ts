import { expect } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import type { InternalRoute } from 'elysia'
import { hourMs, isoDay } from '../../../../src/lib/time/instant.ts'
import { listedMonths } from '../../../../src/topics/futures/math/contracts.ts'
import type { FamilyCode } from '../../../../src/topics/futures/math/families.ts'
import { openTestInstance, startAt, type TestInstance } from '../../instance/instance.ts'
import { answersOf } from '../../interface/shape.ts'

// biome-ignore lint/suspicious/noExplicitAny: a body as JSON.parse gives it; the schema check says what it is.
export type Json = Record<string, any>

/** An instance with a key, and answers held against their documentation. */
export function pricedInstance() {
  const instance = openTestInstance()
  const token = instance.key()
  const routes = instance.app.routes as InternalRoute[]
  const ask = async (path: string, key = token) => {
    const response = await instance.get(`/v1/spreads/${path}`, key)
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: (text === '' ? undefined : JSON.parse(text)) as Json,
    }
  }
  const answered = async (path: string, key = token): Promise<Json> => {
    const { status, body } = await ask(path, key)
    expect(status, JSON.stringify(body)).toBe(200)
    const route = routes.find(route => route.path === `/v1/spreads/${path.split('?')[0]}`)!
    expect(Value.Check(answersOf(route)[200]!, body), JSON.stringify(body)).toBe(true)
    return body
  }
  const refused = async (path: string, key = token): Promise<Json> => {
    const { status, headers, body } = await ask(path, key)
    const error = body.error?.code ? body.error : body
    expect(error.code).toBe(headers.get('x-error-code'))
    return { ...error, status }
  }
  const seriesId = (code: string) => instance.services.catalogue.resolve(code, startAt)!.series.id
  return { instance, ask, answered, refused, seriesId }
}

export const close = (value: number, expected: number) =>
  expect(Math.abs(value - expected), `${value} is not ${expected}`).toBeLessThan(1e-9)

/**
 * A settled day of the nearest contracts of a family, nearest first; null leaves one without a
 * price.
 */
export function settle(
  instance: TestInstance,
  family: FamilyCode,
  prices: readonly (number | null)[],
  quotedAt = startAt - hourMs,
): void {
  const months = listedMonths(family, isoDay(startAt), prices.length)
  instance.services.futures.recordDays(
    prices.flatMap((price, i) => {
      if (price === null) return []
      const none = { open: null, high: null, low: null, volume: null, openInterest: null }
      return [
        {
          ...none,
          family,
          month: months[i]!,
          tradedOn: isoDay(quotedAt),
          close: price,
          settlement: price,
          quotedAt,
          source: 'test',
        },
      ]
    }),
    quotedAt,
  )
}
