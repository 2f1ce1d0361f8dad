import { snakeCase } from '../../../lib/text/name-case.ts'
import { calendarOf } from '../../calendars/math/calendar.ts'
import { nextReleaseAt } from '../../calendars/math/releases.ts'
import { deliveryFaults } from '../../delivery/math/terms.ts'
import { type FormulaFault, whole } from '../../formulas/math/fault.ts'
import { parseContractCode } from '../../futures/math/families.ts'
import {
  cadenceRefused,
  isCode,
  type SeriesBase,
  type SeriesTerms,
  withTerms,
} from '../math/terms.ts'
import type { Series } from '../store/series.ts'
import type { Catalogue } from './catalogue.ts'
import { ownPrefix } from './visibility.ts'

/** A fault of an attribute, as a sentence that continues after the field's name. */
export interface TermFault {
  field: string
  why: string
  /** The place in the text of a formula. */
  details?: { reason: string; column: number; length: number; path?: readonly string[] }
}

export interface NewSeries {
  code: string
  terms: SeriesTerms
}

export interface SeriesFaultsDeps {
  catalogue: Pick<Catalogue, 'extent' | 'find' | 'named' | 'suggest'>
  /**
   * Checks the formula of a series; undefined: it has no fault. `added`: series that are added with
   * it and before it.
   */
  formulaFault(code: string, terms: SeriesTerms, added: readonly Series[]): FormulaFault | undefined
}

/** Categories whose codes are made by the service itself. */
const closedCategories = new Set(['futures'])

/** A release calendar of one kind of days that has at least one date. */
function releaseFaults(code: string, terms: SeriesTerms, category: string): TermFault[] {
  const { releaseDays, calendar } = terms
  if (releaseDays === undefined)
    return (['releaseTime', 'releaseHoliday'] as const)
      .filter(term => terms[term] !== undefined)
      .map(term => ({ field: snakeCase(term), why: 'requires release_days, such as wed.' }))
  if (releaseDays.length === 0)
    return [{ field: 'release_days', why: 'must name a day; null resets them.' }]
  const ofTheMonth = releaseDays.filter(day => day === 'last' || Number(day) > 0)
  if (ofTheMonth.length > 0 && ofTheMonth.length < releaseDays.length)
    return [{ field: 'release_days', why: 'must be either days of the week or days of the month.' }]
  const { releases, cadence } = withTerms({ ...anySeries, category }, terms, true)
  const listing = { code, category, cadence, releases, calendar }
  return nextReleaseAt(listing, 0) === undefined
    ? [
        {
          field: 'release_days',
          why: `fall on closed days of ${calendarOf(listing)} alone and are skipped: choose another calendar, or release_holiday after or before.`,
        },
      ]
    : []
}

/** A series as it will be once it is added. */
export const seriesToBe = ({ code, terms }: NewSeries): Series => ({
  ...withTerms(anySeries, terms, true),
  id: 0,
  code,
  volatility: 0,
  fixture: false,
  contractOf: null,
  aliases: terms.aliases ?? [],
  own: true,
  terms,
})

/** The series that has a code or alias. */
export const seriesNamed = (all: readonly Series[], name: string): Series | undefined => {
  const upper = name.toUpperCase()
  return all.find(({ code, aliases }) => code === upper || aliases.includes(upper))
}

const anySeries: SeriesBase = {
  name: '',
  category: '',
  currency: null,
  unit: '',
  decimals: 2,
  cadence: 'daily',
  source: '',
  description: '',
  level: 0,
  unavailableReason: null,
}

/** Why terms cannot be those of a series. */
export function createSeriesFaults({ catalogue, formulaFault }: SeriesFaultsDeps) {
  const formulaFaults = (
    code: string,
    terms: SeriesTerms,
    added: readonly Series[] = [],
  ): TermFault[] => {
    if (terms.formula === undefined)
      return (['align', 'alignLimit'] as const)
        .filter(term => terms[term] !== undefined)
        .map(term => ({ field: snakeCase(term), why: 'requires formula.' }))
    if (terms.time === 'delivery')
      return [{ field: 'time', why: 'must be observed for a series with a formula.' }]
    if (terms.cadence !== undefined) return [{ field: 'cadence', why: cadenceRefused }]
    const fault = formulaFault(code, terms, added)
    if (!fault) return []
    const { reason, spot, message, path } = fault
    const { column } = spot
    const length = spot === whole ? terms.formula.length : spot.length
    const word = terms.formula.slice(column - 1, column - 1 + length)
    const near = reason === 'unknown_code' ? catalogue.suggest(word).slice(0, 3) : []
    const meant =
      near.length === 0 ? '' : ` Did you mean ${near.map(series => series.code).join(', ')}?`
    const why = `${message.replace(/\.(?= Did you mean|$)/, ` (column ${column}).`)}${meant}`
    return [{ field: 'formula', why, details: { reason, column, length, ...(path && { path }) } }]
  }
  const faultsOf = (
    code: string,
    terms: SeriesTerms,
    category: string,
    added: readonly Series[] = [],
  ): TermFault[] => {
    const faults: TermFault[] = []
    const { min, max, timeZone, valueTime, aliases = [] } = terms
    if (min !== undefined && max !== undefined && min >= max)
      faults.push({ field: 'min', why: `must be less than max (${max}).` })
    if (timeZone !== undefined && valueTime === undefined && terms.releaseDays === undefined)
      faults.push({
        field: 'time_zone',
        why: 'requires value_time, such as 16:30, or release_days.',
      })
    faults.push(...releaseFaults(code, terms, category), ...deliveryFaults(terms))
    faults.push(...formulaFaults(code, terms, added))
    if (
      terms.category !== undefined &&
      closedCategories.has(category) &&
      terms.category !== category
    )
      faults.push({ field: 'category', why: `must not change for ${code}.` })
    for (const [i, alias] of aliases.entries()) {
      const other = catalogue.named(alias) ?? seriesNamed(added, alias)
      if (other && other.code !== code)
        faults.push({
          field: `aliases.${i}`,
          why: `must be unused: ${alias} belongs to ${other.code}.`,
        })
      else if (parseContractCode(alias))
        faults.push({
          field: `aliases.${i}`,
          why: `must not be the code of a futures contract, as ${alias} is.`,
        })
    }
    return faults
  }
  return {
    /** The faults of the formula of a series; its code may be empty. */
    formulaFaults,
    /**
     * The faults that keep a code from becoming a custom series with these attributes; `before`: the
     * new series before it in the same request.
     */
    newFaults(code: string, terms: SeriesTerms, before: readonly NewSeries[] = []) {
      const added = before.map(seriesToBe)
      const other = catalogue.find(code, terms.owner)
      const faults = faultsOf(code, terms, terms.category!, added)
      if (!isCode(code))
        faults.push({
          field: 'code',
          why: 'must be 2 to 50 capital letters, digits and _, beginning with a letter.',
        })
      else if (code.startsWith(ownPrefix) !== (terms.owner !== undefined))
        faults.push({
          field: 'code',
          why: terms.owner
            ? `must begin with ${ownPrefix}.`
            : `must not begin with ${ownPrefix}: accounts name their own formulas so.`,
        })
      else if (other)
        faults.push({
          field: 'code',
          why: `must be unused: ${other.code} is a ${other.own ? 'custom' : 'shipped'} series. Change it with PATCH.`,
        })
      else if (parseContractCode(code))
        faults.push({ field: 'code', why: 'must not be the code of a futures contract.' })
      if (closedCategories.has(terms.category!))
        faults.push({
          field: 'category',
          why: 'must not be futures: import them as the dataset futures-settlements.',
        })
      return faults
    },
    /** The faults of new attributes of a series. */
    faults: (series: Series, terms: SeriesTerms) => [
      ...faultsOf(series.code, { ...series.shippedTerms, ...terms }, series.category),
      ...(((terms.time ?? series.shippedTerms?.time) === 'delivery') !==
        (series.delivery !== undefined) && catalogue.extent(series) !== undefined
        ? [{ field: 'time', why: 'must not change: the series has values.' }]
        : []),
      ...((terms.formula === undefined) !== (series.terms?.formula === undefined)
        ? [{ field: 'formula', why: 'must be there from the beginning of a series, or never.' }]
        : []),
      ...(terms.visibleTo && !series.own
        ? [
            {
              field: 'visible_to',
              why: 'must be absent for a shipped series: everyone sees those.',
            },
          ]
        : []),
    ],
  }
}
