import type { DeliveryTerms } from '../../delivery/math/terms.ts'
import { namesIn } from '../../formulas/math/parse.ts'
import { parseRank } from '../../futures/math/families.ts'
import { type Cadence, finestOf } from '../math/catalogue.ts'
import { legNames, type Series } from '../store/series.ts'

/** A series by formula has the delivery periods of the first of its legs that has any. */
export function takePeriods(
  series: Series,
  find: (name: string, owner?: string) => Series | undefined,
  above: readonly Series[] = [],
): DeliveryTerms | undefined {
  const { terms, delivery } = series
  if (delivery || terms?.formula === undefined || above.includes(series)) return delivery
  for (const name of legNames(series)) {
    const leg = find(name, terms.owner)
    const taken = leg && takePeriods(leg, find, [...above, series])
    if (!taken) continue
    series.delivery = taken
    return taken
  }
  return undefined
}

/** A series by formula has the cadence of the leg with the most values. */
export function takeCadences(
  all: readonly Series[],
  find: (name: string, owner?: string) => Series | undefined,
): void {
  const taken = new Set<Series>()
  const take = (series: Series): Cadence => {
    const { terms } = series
    if (terms?.formula === undefined || taken.has(series)) return series.cadence
    taken.add(series)
    const legs = namesIn(terms.formula).legs.flatMap(
      name => find(name, terms.owner) ?? find(parseRank(name)?.family.code ?? '') ?? [],
    )
    series.cadence = finestOf(legs.map(take)) ?? series.cadence
    return series.cadence
  }
  for (const series of all) take(series)
}
