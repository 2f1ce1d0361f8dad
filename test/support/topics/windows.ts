import { parseInstant } from '../../../src/lib/time/instant.ts'
import { openTestInstance, startAt } from '../instance/instance.ts'
import { expectShape, json } from '../interface/shape.ts'

export const at = (text: string): number => parseInstant(text)!
export const unhurried = { 'limits.per_minute': '1000000' }

export interface Row {
  code: string
  price: number
  created_at: string
  [field: string]: unknown
}

/** The fields of a response that a test reads, whatever its status. */
export interface Answer {
  status: number
  headers: Headers
  rows: Row[]
  // biome-ignore lint/suspicious/noExplicitAny: metadata, meta and refusals are what the test says they are
  body: any
}

export const bodyOf = (response: Response | Promise<Response>) => json<Answer['body']>(response)

/**
 * An instance with a key, whose windows are requested by path alone; every body of a 200 is checked
 * against its schema.
 */
export function openWindowInstance(flags: Record<string, string> = unhurried) {
  const instance = openTestInstance(flags)
  const token = instance.key()
  const series = (code: string) => instance.services.catalogue.resolve(code, startAt)!.series
  return {
    ...instance,
    token,
    series,
    /** Requests that counted so far. */
    used: () => instance.services.meter.quotaUsage(instance.services.keys.find(token)!).used,
    async ask(path: string, headers: Record<string, string> = {}): Promise<Answer> {
      const response = await instance.get(
        path.startsWith('/') ? path : `/v1/prices/${path}`,
        token,
        headers,
      )
      const body = await bodyOf(response)
      if (response.status === 200) expectShape(instance.app, '/v1/prices/past_day', body)
      return {
        status: response.status,
        headers: response.headers,
        rows: body.data?.prices ?? [],
        body,
      }
    },
    write: (code: string, values: Record<string, number>, recordedAt?: number) =>
      instance.services.ingest.write(
        Object.entries(values).map(([text, value]) => ({
          seriesId: series(code).id,
          observedAt: at(text),
          value,
        })),
        recordedAt,
      ),
    exclude: (code: string, fromOn: string, toOn: string, reason: string) =>
      instance.services.quarantine.add({
        seriesId: series(code).id,
        fromOn,
        toOn,
        reason,
        createdAt: startAt,
      }),
  }
}
