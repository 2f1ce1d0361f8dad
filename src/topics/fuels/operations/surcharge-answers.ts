import { t } from '../../../http/answer/schema.ts'
import type { Page } from '../../../http/input/page.ts'
import { markFixtures, type Reply, success } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { invalidParameter, nameNotFound, Problem } from '../../../http/problem/problem.ts'
import { NestedProblem } from '../../../http/problem/shape.ts'
import { isoDay, isoInstant } from '../../../lib/time/instant.ts'
import type { CarrierMode } from '../dataset/surcharge-fields.ts'
import type { Surcharge } from '../dataset/surcharges.ts'
import type { SurchargeHistory } from '../store/surcharges.ts'
import { type ParcelRow, SourceNote, type SurchargeRow, sourceNote } from './surcharge-row.ts'

export const listShape = <T extends typeof SurchargeRow | typeof ParcelRow>(row: T) =>
  t.Object({
    surcharges: t.Array(row),
    count: t.integer({ examples: [4] }),
    updated_at: t.instant('When the newest of them was read.'),
    metadata: SourceNote,
  })
export const carrierParams = (example: string) =>
  t.Object({
    carrier: t.string('Code of a carrier, in any case.', example),
  })
export const refusals = { 400: NestedProblem, 404: NestedProblem }

export const delayed =
  ' The surcharge of a week is looked up in the table of the carrier and takes effect on the weekday that the carrier names. If a table could not be read, the last values are served with their true `effective_date` and `retrieved_at`.'

/** The common parts of responses about both kinds of carriers. */
export function createSurchargeAnswers(deps: Context) {
  const { surcharges, now } = deps
  const today = () => isoDay(now())

  const marked = (set: Reply, rows: readonly Surcharge[]) => {
    const marks = rows.map(row => ({ series: row }))
    markFixtures(set, deps.marks, marks)
    return sourceNote(rows)
  }
  const carrierOf = (mode: CarrierMode, text: string): string => {
    const carrier = text.trim().toLowerCase()
    const isKnown = carrier !== '' && surcharges.serviceLevels(mode, carrier).length > 0
    if (!isKnown)
      throw nameNotFound(mode === 'ltl' ? 'carrier' : 'parcel carrier', text, [
        ...new Set(surcharges.inForce(mode, today()).map(row => row.carrier)),
      ])
    return carrier
  }
  /** The service level of the query; undefined where it names none. */
  const levelOf = (text: string | undefined): string | undefined => {
    const level = text?.trim().toLowerCase()
    if (!level) return undefined
    const levels = surcharges.serviceLevels('parcel')
    if (levels.length > 0 && !levels.includes(level))
      throw invalidParameter('service_level', text, levels)
    return level
  }
  const requireSome = (rows: Surcharge[], subject: string): Surcharge[] => {
    if (rows.length === 0)
      throw new Problem('DATA_NOT_AVAILABLE', `There is no fuel surcharge of ${subject} in force.`)
    return rows
  }
  const listAnswer = <T>(
    rows: readonly Surcharge[],
    row: (surcharge: Surcharge) => T,
    set: Reply,
  ) =>
    success({
      surcharges: rows.map(row),
      count: rows.length,
      updated_at: isoInstant(Math.max(...rows.map(surcharge => surcharge.retrievedAt))),
      metadata: marked(set, rows),
    })
  const historyOf = (filter: Omit<SurchargeHistory, 'toOn'>, page: Page) => {
    const question = { ...filter, toOn: today() }
    const rows = surcharges.history(question, page.perPage, page.offset)
    return { rows, meta: page.meta(surcharges.count(question)) }
  }
  return { today, marked, carrierOf, levelOf, requireSome, listAnswer, historyOf }
}
