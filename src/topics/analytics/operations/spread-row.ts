import { t } from '../../../http/answer/schema.ts'
import type { Context } from '../../../http/operations/context.ts'
import { hourMs, isoInstant } from '../../../lib/time/instant.ts'
import { sourcesOf } from '../../catalogue/math/catalogue.ts'
import type { Resolved } from '../../catalogue/service/catalogue.ts'
import { roundTo } from '../../prices/math/format.ts'
import type { Quote } from '../../prices/service/reads/latest-prices.ts'
import type { SpreadIdentity, SpreadType } from '../../units/math/identities.ts'
import { codesOf, combine } from '../math/spread.ts'
import { instantField } from './indicator-shape.ts'

/** Takes the residue of binary fractions off a difference: 71.23 - 75.1 is -3.87. */
export const tidy = (value: number): number => roundTo(value, 12)

export const valueField = t.Number({ examples: [-3.87] })
export const unitField = t.String({ examples: ['USD/bbl'] })

export const SpreadRow = t.object('Spread', {
  id: t.String({ examples: ['wti_brent'] }),
  type: t.String({ examples: ['basis'] }),
  name: t.String({ examples: ['WTI - Brent'] }),
  value: valueField,
  unit: unitField,
  region: t.orNull(t.String({ examples: ['Atlantic'] })),
  components: t.objects('`value` is the sum of `price` x `weight`.', {
    code: t.String({ examples: ['WTI_USD'] }),
    name: t.String({ examples: ['WTI Crude Oil'] }),
    price: t.Number({ examples: [71.23] }),
    unit: t.String({ examples: ['barrel'] }),
    weight: t.number('Weight of `price` in `value`, including conversions.', 1),
    timestamp: instantField,
  }),
  formula: t.String({ examples: ['WTI_USD - BRENT_CRUDE_USD'] }),
  change_24h: t.numberOrNull(
    '`value` minus the spread 24 hours earlier (for a daily leg: at its previous close); null if a leg has no earlier price.',
    -0.12,
  ),
  timestamp: t.instant('Of the oldest leg.'),
  metadata: t.Object({
    description: t.String(),
    source_description: t.String(),
    max_leg_age_hours: t.Number({ examples: [96] }),
    exchange_rates: t.Optional(
      t.Array(
        t.Object({
          code: t.String(),
          rate: t.Number({ examples: [1.1612] }),
          timestamp: instantField,
        }),
      ),
    ),
  }),
})
export type SpreadRow = typeof SpreadRow.static

/** Why a spread has no value: the leg without a price that may be served. */
export interface MissingLeg {
  leg: string
  reason: 'no_price' | 'stale'
  /** When the price that is too old was made, Unix ms. */
  lastAt?: number
}

export type SpreadValue = { row: SpreadRow; matches: Resolved[] } | MissingLeg

interface Leg {
  match: Resolved
  quote: Quote
}

/** A spread of the newest prices of its legs, none of them older than the bound. */
export function spreadValue(
  type: SpreadType,
  identity: SpreadIdentity,
  deps: Context,
): SpreadValue {
  const now = deps.now()
  const maxAgeHours = deps.limits.futuresMaxAgeHours
  const legs = new Map<string, Leg>()
  for (const code of codesOf(identity)) {
    const match = deps.catalogue.resolve(code, now)
    const quote = match && deps.latestPrices.quote(match.series)
    if (!quote) return { leg: code, reason: 'no_price' }
    const { observedAt } = quote.observation
    if (now - observedAt > maxAgeHours * hourMs)
      return { leg: code, reason: 'stale', lastAt: observedAt }
    legs.set(code, { match, quote })
  }
  const combined = combine(identity, code => legs.get(code)?.quote.observation.value)
  if (!combined.complete) return { leg: combined.missing, reason: 'no_price' }
  const before = combine(identity, code => legs.get(code)?.quote.bases['24h'])
  const all = [...legs.values()]
  return {
    row: rowOf(
      type,
      identity,
      combined,
      before.complete ? tidy(combined.value - before.value) : null,
      legs,
      maxAgeHours,
    ),
    matches: all.map(leg => leg.match),
  }
}

function rowOf(
  type: SpreadType,
  identity: SpreadIdentity,
  combined: { value: number; legs: { code: string; price: number; weight: number }[] },
  change: number | null,
  legs: ReadonlyMap<string, Leg>,
  maxAgeHours: number,
): SpreadRow {
  const all = [...legs.values()]
  const timestampOf = (code: string) => isoInstant(legs.get(code)!.quote.observation.observedAt)
  const priced = new Set(combined.legs.map(leg => leg.code))
  const rates = [...legs.keys()].filter(code => !priced.has(code))
  return {
    id: identity.id,
    type,
    name: identity.name,
    value: tidy(combined.value),
    unit: identity.unit,
    region: identity.region,
    components: combined.legs.map(({ code, price, weight }) => {
      const { series } = legs.get(code)!.match
      return {
        code,
        name: series.name,
        price,
        unit: series.unit,
        weight,
        timestamp: timestampOf(code),
      }
    }),
    formula: identity.formula,
    change_24h: change,
    timestamp: isoInstant(Math.min(...all.map(leg => leg.quote.observation.observedAt))),
    metadata: {
      description: identity.description,
      source_description: sourcesOf(all.map(leg => leg.quote.series)).description,
      max_leg_age_hours: maxAgeHours,
      ...(rates.length > 0 && {
        exchange_rates: rates.map(code => ({
          code,
          rate: legs.get(code)!.quote.observation.value,
          timestamp: timestampOf(code),
        })),
      }),
    },
  }
}
