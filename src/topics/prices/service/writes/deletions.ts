import type { ObservationReads, Point } from '../../store/observations.ts'

const momentKey = ({ seriesId, observedAt }: Point) => `${seriesId} ${observedAt}`

/**
 * Separates the points with a deletion, each with all its entries in the order of time, from the
 * others.
 */
export function deletionsApart(points: readonly Point[]) {
  const withDeletion = new Set(points.filter(point => point.deleted).map(momentKey))
  if (withDeletion.size === 0) return { ordinary: points, histories: [] }
  const ordinary = points.filter(point => !withDeletion.has(momentKey(point)))
  const events = points.filter(point => withDeletion.has(momentKey(point)))
  const at = ({ recordedAt = Number.POSITIVE_INFINITY }: Point) => recordedAt
  const histories = [...Map.groupBy(events, momentKey).values()].map(history =>
    history.toSorted((a, b) => (at(a) === at(b) ? 0 : at(a) - at(b))),
  )
  return { ordinary, histories }
}

/** Whether an entry of a file about a point is older than the newest version stored here. */
export function knownAlready(observations: Pick<ObservationReads, 'vintages'>, point: Point) {
  const last = observations.vintages(point.seriesId, point.observedAt).at(-1)
  const { replacedAt, recordedAt = Number.NEGATIVE_INFINITY } = last ?? {}
  return (event: Point): boolean => {
    if (event.deleted && !last && event.recordedAt === undefined) return true
    if (event.recordedAt === undefined) return event.deleted === true && replacedAt !== undefined
    if (replacedAt === undefined) return event.recordedAt <= recordedAt
    return event.deleted ? event.recordedAt <= replacedAt : event.recordedAt < replacedAt
  }
}
