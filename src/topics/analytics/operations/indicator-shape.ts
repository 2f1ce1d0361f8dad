import type { TSchema } from 'elysia'
import { t } from '../../../http/answer/schema.ts'

export const calculated = { feature: 'calculated_metrics', meter: true } as const

/** Fields about its data that every indicator has. */
export const metaFields = {
  as_of: t.instant('Date of the oldest price or newest row in the response.'),
  source: t.string('Sources, separated by semicolons.', 'EIA'),
  source_description: t.String({ examples: ['Published by EIA'] }),
}

/** `{data, meta}` without a status. */
export const indicator = <T extends TSchema>(data: T, title: string) =>
  t.object(title, { data, meta: t.Object(metaFields) })

export const instantField = t.String({ format: 'date-time', examples: ['2026-11-20T14:55:00Z'] })
