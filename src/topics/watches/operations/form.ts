import { t } from '../../../http/answer/schema.ts'
import {
  body,
  changeOf,
  checked,
  choice,
  decimal,
  flag,
  listOf,
  nullable,
  optional,
  text,
  whole,
} from '../../../http/input/body-schema.ts'
import type { Form } from '../../../http/input/form.ts'
import { camelFields } from '../../../lib/text/name-case.ts'
import type { Entitlements } from '../../../plans/plans.ts'
import type { WatchSettings } from '../service/watches.ts'

const codesMax = 20
const nameMax = 100
const intervalSecondsMax = 30 * 86_400
const intervalSecondsDefault = 300
const thresholdMax = 1000

export interface WatchFormDeps {
  /** The canonical code of a code or alias. */
  codeOf(text: string): string | undefined
}

const watchFields = ({ codeOf }: WatchFormDeps) => ({
  codes: checked(
    listOf(
      t.String({ examples: ['BRENT_CRUDE_USD'] }),
      { nouns: 'commodity codes', item: 'a commodity code such as WTI_USD' },
      codesMax,
      codeOf,
      {
        minItems: 1,
        description:
          'Codes or aliases in any letter case; duplicates are removed. A futures family stands for its front contract.',
      },
    ),
    codes => (codes.length === 0 ? 'must name at least one code.' : undefined),
  ),
  interval_seconds: optional(
    whole(1, intervalSecondsMax, {
      description: `Seconds between runs; default: ${intervalSecondsDefault}, or the plan's shortest where that is longer.`,
      examples: [3600],
    }),
  ),
  name: optional(nullable(text(nameMax, { examples: ['hourly brent'] }))),
  deliver_webhook: optional(
    flag({
      description:
        'Notifies webhook endpoints subscribed to `watch.evaluated` or `watch.threshold_crossed`. Default: false.',
    }),
  ),
  threshold_percent: optional(
    nullable(
      checked(
        decimal(0, thresholdMax, { minimum: undefined, exclusiveMinimum: 0, examples: [2] }),
        percent => (percent === 0 ? 'must be above 0.' : undefined),
      ),
      {
        description:
          'A change of at least this percentage between two runs is a `threshold_crossed`; null disables it.',
      },
    ),
  ),
})

/**
 * Whether a body requests webhooks, before it is validated: a feature that the plan lacks is
 * refused before invalid fields are.
 */
export const asksForWebhook = (input: unknown): boolean =>
  typeof input === 'object' &&
  input !== null &&
  'deliver_webhook' in input &&
  input.deliver_webhook === true

/** The bodies of watches; an interval must be at least the plan's shortest. */
export function createWatchForms(deps: WatchFormDeps) {
  const fields = watchFields(deps)
  const newWatch = body(fields)
  const watchChange = body(changeOf({ ...fields, status: choice(['active', 'paused'] as const) }))
  return {
    newWatch: newWatch.schema,
    watchChange: watchChange.schema,
    created: (input: unknown, entitled: Entitlements): WatchSettings => ({
      name: null,
      active: true,
      deliverWebhook: false,
      thresholdPercent: null,
      intervalSeconds: Math.max(intervalSecondsDefault, entitled.minWatchIntervalSeconds),
      ...(settingsOf(newWatch.read(input, refuseShort(entitled))) as Pick<WatchSettings, 'codes'>),
    }),
    changed: (input: unknown, entitled: Entitlements): Partial<WatchSettings> =>
      settingsOf(watchChange.read(input, refuseShort(entitled))),
  }
}

/** Refuses an interval shorter than the plan's. */
const refuseShort =
  ({ minWatchIntervalSeconds: shortest, planName }: Entitlements) =>
  (form: Form, { interval_seconds: seconds }: WatchValues) => {
    if (seconds !== undefined && seconds < shortest) {
      form.fault(
        'interval_seconds',
        `must be at least ${shortest}, the shortest interval of the ${planName} plan.`,
      )
    }
  }

interface WatchValues {
  codes?: string[] | undefined
  interval_seconds?: number | undefined
  threshold_percent?: number | null | undefined
  name?: string | null | undefined
  deliver_webhook?: boolean | undefined
  status?: 'active' | 'paused' | undefined
}

const settingsOf = ({ status, ...values }: WatchValues): Partial<WatchSettings> => ({
  ...camelFields(values),
  ...(status && { active: status === 'active' }),
})
