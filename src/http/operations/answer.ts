import type { TProperties } from '@sinclair/typebox'
import type { TSchema } from 'elysia'
import { strongEtag } from '../../lib/text/etag.ts'
import type { Series } from '../../topics/catalogue/store/series.ts'
import { jsonType } from '../answer/complete.ts'
import { hasEtag, type Reply } from '../answer/reply.ts'
import { t } from '../answer/schema.ts'

export type { Reply }

export interface Marks {
  /** Name of the header that marks responses from generated data. */
  fixtureHeader: string
}

/** `{status: "success", data}`. */
export const envelope = <T extends TSchema>(data: T) =>
  t.Object({ status: t.Literal('success'), data })

export const envelopeOf = <Properties extends TProperties>(properties: Properties) =>
  envelope(t.Object(properties))

export const success = <T>(data: T) => ({ status: 'success' as const, data })

/** Says in the headers that fixture data is part of the answer. */
export function markFixtures(
  reply: Reply,
  marks: Marks,
  found: readonly { series: Pick<Series, 'fixture'> }[],
): void {
  if (found.some(row => row.series.fixture)) reply.headers[marks.fixtureHeader] = 'fixture'
}

/** Sends JSON text with its entity tag, or 304 when the client has it. */
export function tagged(
  request: Request,
  reply: Reply,
  text: string,
  hit: boolean,
  etag = strongEtag(text),
): string | undefined {
  const { headers } = reply
  headers['x-cache'] = hit ? 'HIT' : 'MISS'
  headers.etag = etag
  headers['cache-control'] = 'private, no-cache'
  if (hasEtag(request.headers.get('if-none-match'), etag)) {
    reply.status = 304
    return undefined
  }
  headers['content-type'] = jsonType
  return text
}
