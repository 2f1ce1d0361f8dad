import type { SeriesTerms } from '../../catalogue/math/terms.ts'
import type { Catalogue } from '../../catalogue/service/catalogue.ts'
import type { SeriesChanges } from '../../catalogue/service/series-changes.ts'
import type { TermFault } from '../../catalogue/service/series-faults.ts'
import type { Series } from '../../catalogue/store/series.ts'
import { entitledNow, type Keyring } from '../../keys/service/keyring.ts'
import type { Formulas } from './formulas.ts'

/** The account has reached its plan's limit of formulas. */
export interface FormulaRefusal {
  limit: number
  count: number
}

export type OwnFormulas = ReturnType<typeof createOwnFormulas>

/** Series by formula that accounts make for themselves. */
export function createOwnFormulas({
  catalogue,
  seriesChanges,
  formulas,
  forgetSeries,
  keys,
}: {
  catalogue: Catalogue
  formulas: Pick<Formulas, 'define' | 'dependentsOf' | 'preview'>
  forgetSeries(id: number): void
  seriesChanges: SeriesChanges
  keys: Pick<Keyring, 'account' | 'entitlements'>
}) {
  const limitOf = (accountId: string) => {
    const entitled = entitledNow(keys, accountId)
    return entitled ? entitled.formulaSeries : 0
  }
  catalogue.limitOwned(limitOf)
  const list = catalogue.ownedBy
  return {
    list,
    find: (accountId: string, code: string): Series | undefined => {
      const series = catalogue.find(code, accountId)
      return series?.terms?.owner === accountId ? series : undefined
    },
    /** `fault` gets the faults of the terms and throws a refusal if there are any. */
    create(
      accountId: string,
      code: string,
      given: SeriesTerms,
      fault: (faults: readonly TermFault[]) => void,
    ): Series | FormulaRefusal {
      const terms = { ...given, category: 'formula', owner: accountId, visibleTo: [accountId] }
      fault(seriesChanges.newFaults(code, terms))
      const [limit, count] = [limitOf(accountId), list(accountId).length]
      if (limit !== null && count >= limit) return { limit, count }
      return seriesChanges.add([{ code, terms }])[0]!
    },
    /** Computes a formula that is not stored; a `code` is refused among its own legs. */
    preview(
      accountId: string,
      code: string,
      given: SeriesTerms,
      range: Parameters<Formulas['preview']>[1],
      fault: (faults: readonly TermFault[]) => void,
    ) {
      fault(seriesChanges.formulaFaults(code, { ...given, owner: accountId }))
      const definition = formulas.define(given, name => catalogue.named(name, accountId))
      return formulas.preview(definition, range)
    },
    change(series: Series, terms: SeriesTerms, fault: (faults: readonly TermFault[]) => void) {
      fault(seriesChanges.faults(series, terms))
      return seriesChanges.put(series, terms)
    },
    /** Nothing of it is left but its code, under which alerts and watches of it stay listed. */
    remove({ id, code, terms }: Series) {
      const changed = [id, ...formulas.dependentsOf(id)]
      seriesChanges.remove(code, { owner: terms!.owner!, visibleTo: [], active: false })
      for (const seriesId of changed) forgetSeries(seriesId)
    },
  }
}
