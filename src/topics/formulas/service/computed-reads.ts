import { dayMs, startOfDay } from '../../../lib/time/instant.ts'
import { barsOf, type Observation } from '../../prices/math/bars.ts'
import type { CloseStore } from '../../prices/store/closes.ts'
import type { ObservationStore, Recording } from '../../prices/store/observations.ts'
import { differencesAt, type Moment, noteMoment } from './differences.ts'
import type { RecordedViews } from './recorded-views.ts'
import { ever, stepsTo, type View } from './views.ts'

interface ComputedDeps {
  views: RecordedViews
  newest(seriesId: number): Observation | undefined
  firstAt(seriesId: number): number | undefined
  legsOf(seriesId: number): readonly number[]
  /** The series whose recorded values a series follows from, over any number of levels. */
  sourcesOf(seriesId: number): readonly number[]
  heldBy(seriesId: number): readonly number[]
  stored(): ObservationStore
  closes(): CloseStore
  /** Recorded values of a series; a series by formula has none. */
  own: ObservationStore
  ownCloses: CloseStore
}

/** The reads of a store over values that are computed. */
export function computedReads(deps: ComputedDeps) {
  const { views, legsOf, stored, closes, own, ownCloses } = deps
  const { present, first } = views
  const isBorn =
    (bornBy = ever.to) =>
    (row: Observation) =>
      row.recordedAt <= bornBy
  const oldestFirst = (id: number, from: number, to: number, bornBy?: number) =>
    present.between(id, from, to).filter(isBorn(bornBy))
  const newestFirstOf =
    (view: View) => (id: number, from: number, to: number, limit: number, bornBy?: number) =>
      limit < 1 ? [] : view.last(id, from, to, limit, isBorn(bornBy)).slice(-limit).reverse()
  /** The first values of `[from, to)`: what follows them would be computed, and again for later ones. */
  const firstOf = (view: View, id: number, from: number, to: number, limit: number) => {
    let rows: Observation[] = []
    let begin = from
    for (const end of stepsTo(from, to)) {
      rows = rows.concat(view.between(id, begin, end))
      if (rows.length >= limit) break
      begin = end
    }
    return rows.slice(0, limit)
  }
  const daysOf = (all: readonly Observation[]) =>
    all.map(({ observedAt }) => startOfDay(observedAt))
  const latestOf = (times: readonly (number | undefined)[]): number | undefined => {
    const found = times.flatMap(at => (at === undefined ? [] : [at]))
    return found.length === 0 ? undefined : Math.max(...found)
  }
  return {
    between: newestFirstOf(present),
    oldestFirst,
    newest(id: number, before: number) {
      const newest = deps.newest(id)
      return newest && newest.observedAt >= before
        ? views.before(before).newest(id, before)
        : newest
    },
    count: (id: number, from: number, to: number, bornBy?: number) =>
      oldestFirst(id, from, to, bornBy).length,
    asOf: (id: number, from: number, to: number, asOf: number, limit: number) =>
      newestFirstOf(views.asOf(asOf))(id, from, to, limit),
    firstRecorded: newestFirstOf(first),
    newestAsOf: (id: number, before: number, asOf: number) => views.asOf(asOf).newest(id, before),
    newestWrittenAt: (id: number) =>
      latestOf([own.newestWrittenAt(id), ...legsOf(id).map(leg => stored().newestWrittenAt(leg))]),
    /** Means were there before the first recorded value. */
    firstRecordedAt(id: number) {
      const ofLegs = latestOf(legsOf(id).map(leg => stored().firstRecordedAt(leg)))
      const ofOwn = own.firstRecordedAt(id)
      return ofOwn === undefined || ofLegs === undefined
        ? (ofOwn ?? ofLegs)
        : Math.min(ofOwn, ofLegs)
    },
    pointTimes: (id: number, from: number, to: number, limit: number) =>
      oldestFirst(id, from, to)
        .slice(0, limit)
        .map(({ observedAt }) => observedAt),
    vintages(id: number, observedAt: number) {
      const recorded = own.vintages(id, observedAt)
      if (recorded.length > 0) return recorded
      return oldestFirst(id, observedAt, observedAt + 1).map(({ value, recordedAt }) => ({
        value,
        recordedAt,
        replacedAt: undefined,
        sourceId: 0,
        batchId: 0,
      }))
    },
    *recordings(id: number, from: number, to: number): Generator<Recording | undefined> {
      const sources = deps.sourcesOf(id)
      const known = new Map<number, Moment>()
      for (const source of sources)
        for (const recording of own.recordings(source, from, to)) {
          if (!recording) continue
          const { recordedAt: at, observedAt } = recording
          noteMoment(known, { at, firstAt: observedAt, lastAt: observedAt })
        }
      const moments = [...known.values()].sort((a, b) => a.at - b.at)
      const held = sources.flatMap(deps.heldBy)
      const ends = sources.map(source => own.newestAsOf(source, ever.to, from - 1)?.observedAt)
      const knownTo = latestOf(ends) ?? ever.from
      for (const step of differencesAt(views.at, id, ever, moments, held, knownTo)) {
        yield undefined
        for (const { observedAt, after: value } of step?.differences ?? [])
          yield { observedAt, recordedAt: step!.moment.at, value }
      }
    },
    after(id: number, after: number, limit: number) {
      const lastAt = deps.newest(id)?.observedAt ?? ever.from
      const from = Math.max(after + 1, deps.firstAt(id) ?? ever.from)
      return from > lastAt ? [] : firstOf(present, id, from, lastAt + 1, limit)
    },
    copy(
      id: number,
      from: number,
      to: number,
      into: Parameters<ObservationStore['copy']>[3],
      point?: { asOf: number; isCovered: boolean },
    ) {
      const view = !point ? present : point.isCovered ? views.asOf(point.asOf) : first
      const part = firstOf(view, id, from, Math.min(to, ever.to), into.value.length)
      for (const [i, { observedAt, value, recordedAt }] of part.entries()) {
        into.observedAt[i] = observedAt
        into.value[i] = value
        into.recordedAt[i] = recordedAt
      }
      return part.length
    },
    bars: (id: number, span: 1 | 24, from: number, to: number, limit: number, bornBy?: number) => {
      const interval = span === 1 ? 'hour' : 'day'
      const lengthMs = span === 1 ? dayMs / 24 : dayMs
      const bars = barsOf(interval, oldestFirst(id, from, to + lengthMs, bornBy))
      return bars
        .filter(({ startsAt }) => from <= startsAt && startsAt < to)
        .reverse()
        .slice(0, limit)
    },
    days: (id: number, bornBy?: number, from = ever.from) =>
      barsOf('day', oldestFirst(id, from, ever.to, bornBy)).map(bar => ({
        startsAt: bar.startsAt,
        count: bar.count,
        hours: bar.hours,
        recordedAt: bar.recordedAt,
      })),
    closes: (id: number, from = ever.from) =>
      present
        .closes(id, from)
        .map(({ observedAt, value }) => ({ startsAt: startOfDay(observedAt), value })),
    daysAsOf: (id: number, asOf: number, from = ever.from) =>
      daysOf(views.asOf(asOf).closes(id, from)),
    daysFirst: (id: number, from = ever.from) => daysOf(first.closes(id, from)),
    revisedAt: (id: number, from: number, to: number, by?: number) =>
      latestOf([
        ownCloses.revisedAt(id, from, to, by),
        ...legsOf(id).map(leg => closes().revisedAt(leg, from, to, by)),
      ]),
  }
}
