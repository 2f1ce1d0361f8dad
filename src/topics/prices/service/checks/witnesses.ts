import { dayMs, isoDay } from '../../../../lib/time/instant.ts'
import type { Catalogue } from '../../../catalogue/service/catalogue.ts'
import type { Series } from '../../../catalogue/store/series.ts'
import { families, underlyingCategory } from '../../../futures/math/families.ts'
import { confirms, type Move, type Previous } from '../../math/guards.ts'
import type { FlaggedValueStore } from '../../store/flagged-values.ts'
import type { ObservationStore, Point } from '../../store/observations.ts'

/** The settlements of a futures family's contracts on two days. */
export interface SettlementMoves {
  movesBetween(family: string, fromDay: string, toDay: string): (Move & { code: string })[]
}

/** Related series may date the same period a little differently: a month on its first or its 15th. */
const sameTimeMaxMs = 16 * dayMs

/**
 * Finds related moves that confirm a suspicious value. Used for suspicious values only, and for those
 * of one write: what they have in common is read once.
 */
export function createWitnesses({
  catalogue,
  observations,
  flags,
  settlements,
}: {
  catalogue: Pick<Catalogue, 'byId' | 'list'>
  observations: Pick<ObservationStore, 'newest'>
  flags: Pick<FlaggedValueStore, 'waitingNear'>
  settlements: SettlementMoves
}) {
  const related = new Map<string, readonly Series[]>()
  const relatedIn = (category: string) =>
    related.getOrInsertComputed(category, () =>
      catalogue.list().filter(series => relatedCategory(series) === category),
    )
  const settled = new Map<string, ReturnType<SettlementMoves['movesBetween']>>()
  const settledIn = (category: string, fromDay: string, toDay: string) =>
    settled.getOrInsertComputed(`${category} ${fromDay} ${toDay}`, () =>
      families
        .filter(({ code }) => underlyingCategory(code) === category)
        .flatMap(({ code }) => settlements.movesBetween(code, fromDay, toDay)),
    )
  return {
    /**
     * The moves that confirm the move to a point, in words; undefined where there are none. Values
     * that wait for review count where they are of another source than `sourceId`; without one they
     * do not.
     */
    of(point: Point, before: Previous, sourceId: number | undefined) {
      const flagged: Move = { before: before.value, value: point.value }
      const category = relatedCategory(catalogue.byId(point.seriesId))
      const others = relatedIn(category)
      const withinMs = Math.min(sameTimeMaxMs, (point.observedAt - before.observedAt) / 2)
      const valueNear = (seriesId: number, at: number): number | undefined => {
        const value = observations.newest(seriesId, at + withinMs + 1)
        return value && value.observedAt > at - withinMs ? value.value : undefined
      }
      const didMove = ({ id }: Series): boolean => {
        const value = valueNear(id, point.observedAt)
        const start = value === undefined ? undefined : valueNear(id, before.observedAt)
        return value !== undefined && start !== undefined
          ? confirms({ before: start, value }, flagged)
          : false
      }
      const isSaidToMove = ({ id }: Series): boolean =>
        sourceId !== undefined &&
        flags
          .waitingNear(id, point.observedAt - withinMs, point.observedAt + withinMs, sourceId)
          .some(move => confirms(move, flagged))

      const moved = others.find(series => series.id !== point.seriesId && didMove(series))
      if (moved) return `${moved.code} moved`
      const witness = others.find(isSaidToMove)
      if (witness)
        return `another source says${witness.id === point.seriesId ? '' : ` of ${witness.code}`}`
      const [fromDay, toDay] = [isoDay(before.observedAt), isoDay(point.observedAt)]
      const contract = settledIn(category, fromDay, toDay).find(move => confirms(move, flagged))
      return contract && `${contract.code} settled`
    },
  }
}

/** Futures move with their underlying. */
function relatedCategory({ code, category }: Series): string {
  const family = category === 'futures' ? families.find(family => family.code === code) : undefined
  return family ? underlyingCategory(family.code) : category
}
