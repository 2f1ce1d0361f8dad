import { isoInstant, minuteMs } from '../../../lib/time/instant.ts'
import type { Settings } from '../../operator/store/settings.ts'
import type { Component, Condition } from './component.ts'
import type { Feed } from './freshness.ts'
import type { FaultyCodes } from './series-faults.ts'
import type { QueryWorkers, WorkerFault } from './vitals.ts'

/** The API itself: it is up, or no one would read this. */
export function apiComponent(isOverloaded: boolean, workers?: QueryWorkers): Component {
  const name = 'api'
  if (isOverloaded)
    return { name, status: 'degraded', message: 'Overloaded: heavy analytics are refused for now.' }
  const message = workersText(workers)
  return message === undefined
    ? { name, status: 'operational' }
    : { name, status: 'degraded', message }
}

/** The fault of the query workers, in words for the public; undefined: none. */
export function workersText(workers: QueryWorkers | undefined): string | undefined {
  if (workers?.fault === undefined) return undefined
  return workers.fault.kind === 'not_started'
    ? 'Query workers do not start: history and analytics are slow. The log says why.'
    : 'A query worker ended: heavy requests failed. The log says why.'
}

/** The same with the error, for the operator. */
export const workerFaultText = ({ kind, reason }: WorkerFault): string =>
  kind === 'not_started'
    ? `query workers do not start: ${reason}`
    : `a query worker ended: ${reason}`

/** Payments, where a processor takes them. */
export function paymentComponents({ provider, fault }: PaymentState): Component[] {
  if (provider === 'manual') return []
  const name = 'payments'
  return fault() === undefined
    ? [{ name, status: 'operational' }]
    : [
        {
          name,
          status: 'degraded',
          message: 'The payment processor does not respond, or refuses this instance.',
        },
      ]
}

/** The nightly files, where they are made; `null`: they are not. */
export function fileComponents(failures: readonly unknown[] | null): Component[] {
  if (failures === null) return []
  const name = 'files'
  return failures.length === 0
    ? [{ name, status: 'operational' }]
    : [
        {
          name,
          status: 'degraded',
          message: 'Some nightly files could not be made and are of an earlier night.',
        },
      ]
}

interface PaymentState {
  provider: string
  fault(): string | undefined
}

/** Whether the database responds to a query now. */
export function databaseAnswers(settings: Settings): boolean {
  try {
    settings.get('')
    return true
  } catch {
    return false
  }
}

/** `unwritable`: why writes are refused. `damage`: what the disk did to it, in a sentence. */
export function databaseComponent(
  settings: Settings,
  unwritable?: string,
  damage?: string,
): Component {
  const name = 'database'
  if (!databaseAnswers(settings))
    return { name, status: 'down', message: 'The database does not answer.' }
  if (unwritable !== undefined)
    return { name, status: 'degraded', message: `Writes are refused: ${unwritable}.` }
  return damage === undefined
    ? { name, status: 'operational' }
    : { name, status: 'degraded', message: damage }
}

/**
 * Judges ingest by its feeds: a stale feed has stopped, whatever should have filled it. The same
 * applies to series that have stopped while others of their feed continue, that repeat one value
 * (`frozen`, codes) or have changed their unit (`broken`).
 */
export function ingestComponent(
  feeds: readonly Feed[],
  { stoppedAlone = [], frozen = [], broken = [] }: Partial<FaultyCodes> = {},
): Component {
  const running = feeds.filter(feed => feed.status !== 'empty')
  if (running.length === 0)
    return { name: 'ingest', status: 'operational', message: 'Nothing has been recorded yet.' }
  const names = (status: Feed['status']) =>
    running.filter(feed => feed.status === status).map(feed => titleOf(feed.name))
  const [stale, delayed] = [names('stale'), names('delayed')]
  const sentences = [
    ...(stale.length > 0 ? [`Stale: ${nameList(stale)}.`] : []),
    ...(stoppedAlone.length > 0 ? [`Stopped: ${nameList(stoppedAlone)}.`] : []),
    ...(frozen.length > 0 ? [`Frozen: ${nameList(frozen)}.`] : []),
    ...(broken.length > 0 ? [`In another unit: ${nameList(broken)}.`] : []),
  ]
  if (sentences.length === 0) {
    return {
      name: 'ingest',
      status: 'operational',
      ...(delayed.length > 0 && { message: `Delayed: ${nameList(delayed)}.` }),
    }
  }
  return {
    name: 'ingest',
    status: stale.length === running.length ? 'down' : 'degraded',
    message: sentences.join(' '),
  }
}

/** `EIA crude oil`; of prices whose publisher is not named, the category alone. */
const titleOf = (feed: string): string =>
  feed
    .replace(/^market_reporting\//, '')
    .replace('/', ' ')
    .replaceAll('_', ' ')

const namesMax = 5
const nameList = (names: readonly string[]): string =>
  names.length > namesMax
    ? `${names.slice(0, namesMax).join(', ')} and ${names.length - namesMax} more`
    : names.join(', ')

/**
 * Jobs run every second: after a minute without a run they count as degraded, after ten as down.
 */
const stalledAfterMs = minuteMs
const endedAfterMs = 10 * minuteMs

/**
 * `lastPassAt`: when the jobs last ended a pass; null where none run in this process. `upMs`: for how
 * long the process has been there.
 */
export function schedulerComponent(
  lastPassAt: number | null | undefined,
  now: number,
  upMs: number,
): Component {
  if (lastPassAt === null) return { name: 'scheduler', status: 'disabled' }
  if (lastPassAt === undefined)
    return upMs <= stalledAfterMs
      ? { name: 'scheduler', status: 'operational' }
      : { name: 'scheduler', status: 'degraded', message: 'The jobs have not run yet.' }
  const ageMs = now - lastPassAt
  if (ageMs <= stalledAfterMs) return { name: 'scheduler', status: 'operational' }
  return {
    name: 'scheduler',
    status: ageMs <= endedAfterMs ? 'degraded' : 'down',
    message: `The jobs last ran at ${isoInstant(lastPassAt)}.`,
  }
}

/** Down without its database; degraded while any other part is not as it should be. */
export function conditionOf(components: readonly Component[]): Condition {
  if (components.some(component => component.name === 'database' && component.status === 'down'))
    return 'down'
  return components.some(
    component => component.status === 'down' || component.status === 'degraded',
  )
    ? 'degraded'
    : 'operational'
}
