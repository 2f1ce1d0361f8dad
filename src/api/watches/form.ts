import { t } from 'elysia'
import { integer } from '../../http/answer/integer.ts'
import { formBody, formOf } from '../../http/input/form.ts'
import type { Entitlements } from '../../plan/plans.ts'
import type { WatchSettings } from '../../service/watches/watches.ts'

const codesMax = 20
const nameMax = 100
const intervalSecondsMax = 30 * 86_400
const intervalSeconds = 300
const thresholdMax = 1000

const fields = {
  codes: t.Array(t.String({ examples: ['BRENT_CRUDE_USD'] }), {
    minItems: 1,
    maxItems: codesMax,
    description:
      'Codes or aliases in any letter case; duplicates are removed. A futures family stands for its front contract.',
  }),
  interval_seconds: t.Optional(
    integer({
      minimum: 1,
      maximum: intervalSecondsMax,
      description: `From one run to the next (${intervalSeconds}, or the plan's shortest where that is longer).`,
      examples: [3600],
    }),
  ),
  name: t.Optional(
    t.Union([t.String({ maxLength: nameMax, examples: ['hourly brent'] }), t.Null()]),
  ),
  deliver_webhook: t.Optional(
    t.Boolean({
      description:
        'Tells webhook endpoints that subscribed to `watch.evaluated` or `watch.threshold_crossed` (false).',
    }),
  ),
  threshold_percent: t.Optional(
    t.Union([t.Number({ exclusiveMinimum: 0, maximum: thresholdMax, examples: [2] }), t.Null()], {
      description:
        'A move of at least this many percent between two runs is a `threshold_crossed`; null: none is.',
    }),
  ),
}
const status = t.Union([t.Literal('active'), t.Literal('paused')])

export const watchBody = formBody(t.Object(fields))
export const watchChangeBody = formBody(t.Partial(t.Object({ ...fields, status })))

export interface WatchFormDeps {
  /** The canonical code of a code or alias. */
  codeOf(text: string): string | undefined
}

/**
 * Whether a body asks for webhooks, before anything of it is checked: what a plan does not include
 * is refused before what is wrong.
 */
export const asksForWebhook = (body: unknown): boolean =>
  typeof body === 'object' &&
  body !== null &&
  'deliver_webhook' in body &&
  body.deliver_webhook === true

/** Reads what is written of watches; an interval is held against the plan's shortest. */
export function createWatchForms({ codeOf }: WatchFormDeps) {
  const read = (
    body: unknown,
    { minWatchIntervalSeconds: shortest, tierName }: Entitlements,
    isNew: boolean,
  ): Partial<WatchSettings> => {
    const form = formOf(body)
    if (isNew && !form.has('codes')) form.fault('codes', 'is required.')
    const codes = form.list('codes', 'commodity codes such as WTI_USD', codesMax, codeOf)
    if (codes?.length === 0) form.fault('codes', 'must name at least one code.')
    const interval = form.integer('interval_seconds', 1, intervalSecondsMax)
    if (interval !== undefined && interval < shortest) {
      form.fault(
        'interval_seconds',
        `must be at least ${shortest}, the shortest interval of the ${tierName} tier.`,
      )
    }
    const threshold = form.isNull('threshold_percent')
      ? null
      : form.number('threshold_percent', 0, thresholdMax)
    if (threshold === 0) form.fault('threshold_percent', 'must be above 0.')
    const status = isNew ? undefined : form.choice('status', ['active', 'paused'])
    const change = {
      codes,
      intervalSeconds: interval,
      thresholdPercent: threshold,
      name: form.isNull('name') ? null : form.text('name', nameMax),
      deliverWebhook: form.flag('deliver_webhook'),
      active: status && status === 'active',
    }
    form.check()
    return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  }
  return {
    created: (body: unknown, entitled: Entitlements): WatchSettings => ({
      name: null,
      active: true,
      deliverWebhook: false,
      thresholdPercent: null,
      intervalSeconds: Math.max(intervalSeconds, entitled.minWatchIntervalSeconds),
      ...(read(body, entitled, true) as Pick<WatchSettings, 'codes'>),
    }),
    changed: (body: unknown, entitled: Entitlements): Partial<WatchSettings> =>
      read(body, entitled, false),
  }
}
