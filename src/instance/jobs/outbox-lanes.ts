import { createHeap, type Heap } from '../../lib/heap.ts'
import type { Clock } from '../../lib/time/clock.ts'
import { dayMs, secondMs } from '../../lib/time/instant.ts'
import type { OutboxEngine } from '../../outbox/engine.ts'
import type { Kind, OpenLane, Outbox, Share } from '../../outbox/outbox.ts'
import type { ClaimedRow } from '../../outbox/store/outbox.ts'
import type { Outcome } from '../../send/attempt.ts'
import { createShares, type Shares } from './outbox-shares.ts'

export interface LaneDeps {
  outbox: Outbox
  clock: Clock
  /** Webhooks in flight at a time; e-mails and text messages have separate slots. */
  concurrency: number
  /** Messages under way at a time of one lane. */
  perLane: number
}

/** The job's memory of a lane. It may lag behind the rows; the next check corrects it. */
export interface Lane {
  kind: Kind
  lane: string
  /** Under way. */
  inFlight: number
  /** The account and host that its slots count for, when it was last checked. */
  share: Share | undefined
  /** Attempts that failed since the last one that succeeded. */
  failedInARow: number
  /** The latest attempts in a row that all failed in a way that is retried. */
  retriedInARow: number
  /** More may be due than was taken. */
  more: boolean
  /** When it is in the heap of lanes that wait (Unix ms). */
  nextAt: number | undefined
  /** Monotonic milliseconds at which its last attempts began: for lanes with a rate. */
  begunAt: number[]
}

export interface Sending {
  row: ClaimedRow
  terms: OpenLane
  lane: Lane
}

export interface State extends Omit<LaneDeps, 'outbox'> {
  engine: OutboxEngine
  lanes: Map<string, Lane>
  /** Lanes with due messages and free slots, in rotation. */
  ready: Set<Lane>
  /** Lanes whose account or host holds its share of the slots, until one of them is given back. */
  crowded: Map<string, Set<Lane>>
  shares: Shares
  waiting: Heap<Lane>
  inProgress: Set<Sending>
  ended: (Sending & { outcome: Outcome })[]
}

/** How long messages of a parked lane wait before they fail. */
const parkedMs = 30 * dayMs
/** Messages of a slice of tidying: a few milliseconds of writing. */
export const sliceRows = 100

export const createLaneState = ({ outbox, clock, concurrency, perLane }: LaneDeps): State => ({
  engine: outbox.engine,
  clock,
  concurrency,
  perLane,
  lanes: new Map(),
  ready: new Set(),
  crowded: new Map(),
  shares: createShares(concurrency),
  waiting: createHeap(),
  inProgress: new Set(),
  ended: [],
})

/** A lane has, or may have, a message that is due at `at`. */
export function note(state: State, kind: Kind, name: string, at: number): void {
  const key = `${kind} ${name}`
  const lane = state.lanes.get(key) ?? {
    kind,
    lane: name,
    inFlight: 0,
    share: undefined,
    failedInARow: 0,
    retriedInARow: 0,
    more: false,
    nextAt: undefined,
    begunAt: [],
  }
  state.lanes.set(key, lane)
  if (at <= state.clock.now()) state.ready.add(lane)
  else schedule(state, lane, at)
}

function schedule({ waiting }: State, lane: Lane, at: number): void {
  if (lane.nextAt !== undefined && lane.nextAt <= at) return
  lane.nextAt = at
  waiting.push(at, lane)
}

export function promote({ waiting, ready, clock }: State): void {
  const now = clock.now()
  for (let next = waiting.peek(); next && next.at <= now; next = waiting.peek()) {
    waiting.pop()
    // The entry is stale: the lane has been rescheduled to an earlier time.
    if (next.value.nextAt !== next.at) continue
    next.value.nextAt = undefined
    ready.add(next.value)
  }
}

/**
 * E-mails that a user waits for, such as a link to sign in; then other messages to people, then
 * those to programs.
 */
const securityLane = 'security'
const kindsInOrder: readonly Kind[] = ['email', 'sms', 'webhook']

/** How many messages of a kind may be under way: none waits for a slot of another kind. */
export function slotsOf(kind: Kind, concurrency: number): number {
  switch (kind) {
    case 'webhook':
      return concurrency
    case 'email':
      return Math.max(4, Math.ceil(concurrency / 5))
    case 'sms':
      return Math.max(2, Math.ceil(concurrency / 10))
  }
}

/** Takes messages of the ready lanes, in rotation, kind by kind. */
export function claims(state: State): Sending[] {
  return kindsInOrder.flatMap(kind => {
    const inProgress = [...state.inProgress].filter(({ row }) => row.kind === kind).length
    return claimsOf(state, kind, slotsOf(kind, state.concurrency) - inProgress)
  })
}

function claimsOf(state: State, kind: Kind, room: number): Sending[] {
  const sendings: Sending[] = []
  const unfinished: Lane[] = []
  const lanes = [...state.ready].filter(lane => lane.kind === kind)
  lanes.sort((a, b) => Number(b.lane === securityLane) - Number(a.lane === securityLane))
  for (const lane of lanes) {
    if (sendings.length >= room) break
    state.ready.delete(lane)
    lane.more = false
    const policy = state.engine.policy(lane.kind, lane.lane)
    // The lane is noted again when its kind has a sender.
    if (!policy) continue
    if (policy.state === 'open')
      sendings.push(...claimOpen(state, lane, policy, room - sendings.length))
    else if (!isEmptied(state, lane, policy)) unfinished.push(lane)
  }
  for (const lane of unfinished) note(state, lane.kind, lane.lane, state.clock.now())
  return sendings
}

/** A receiver that failed so often gets one attempt at a time until one succeeds. */
const probedAfter = 3

function claimOpen(state: State, lane: Lane, terms: OpenLane, room: number): Sending[] {
  const { engine, clock, perLane, ready, shares } = state
  lane.share = terms.share
  const isProbed = lane.failedInARow >= probedAfter
  const free = (terms.ordered || isProbed ? 1 : perLane) - lane.inFlight
  if (free <= 0) {
    lane.more = true
    return []
  }
  const rate = rateRoom(lane, terms.ratePerSecond, clock.monotonic())
  if (rate.room === 0) {
    schedule(state, lane, clock.now() + rate.waitMs)
    return []
  }
  const shareRoom = terms.share ? shares.room(terms.share) : Number.POSITIVE_INFINITY
  if (terms.share && shareRoom === 0) {
    crowd(state, lane, terms.share)
    return []
  }
  const limit = Math.min(free, room, rate.room, shareRoom)
  const rows = engine.claim(lane.kind, lane.lane, limit, terms)
  lane.inFlight += rows.length
  if (terms.share) shares.take(terms.share, rows.length)
  if (terms.ratePerSecond !== undefined) for (const _ of rows) lane.begunAt.push(clock.monotonic())
  if (rows.length < limit) {
    const next = engine.nextDue(lane.kind, lane.lane, terms.ordered ?? false)
    if (next !== undefined) schedule(state, lane, next)
  } else if (free > limit) ready.add(lane)
  else lane.more = true
  return rows.map(row => ({ row, terms, lane }))
}

/** Sets a lane aside until its account or its host gives a slot back. */
function crowd({ crowded }: State, lane: Lane, { accountId, host }: Share) {
  for (const name of [accountId, host]) {
    const lanes = crowded.get(name) ?? new Set<Lane>()
    crowded.set(name, lanes.add(lane))
  }
}

/** An attempt has ended: its slot is returned, and lanes that waited for one are ready again. */
export function giveBack(state: State, { lane, terms }: Sending, outcome: Outcome): void {
  const { ready, crowded, shares } = state
  lane.inFlight -= 1
  lane.failedInARow = outcome.state === 'delivered' ? 0 : lane.failedInARow + 1
  lane.retriedInARow = outcome.state === 'retry' ? lane.retriedInARow + 1 : 0
  if (lane.more) ready.add(lane)
  if (!terms.share) return
  shares.giveBack(terms.share)
  for (const name of [terms.share.accountId, terms.share.host]) {
    for (const waiting of crowded.get(name) ?? []) ready.add(waiting)
    crowded.delete(name)
  }
}

/** For one answer, so many lanes are checked for how long they wait. */
const checkedMax = 200

/**
 * Since when messages of a kind wait for slots that other kinds or lanes hold (Unix ms); waiting
 * for their own slow receivers does not count. Undefined: none waits.
 */
export function waitingSince(state: State, kind: Kind): number | undefined {
  const { engine, ready, crowded, shares } = state
  const dues: number[] = []
  let checked = 0
  for (const lane of new Set([...ready, ...[...crowded.values()].flatMap(lanes => [...lanes])])) {
    if (lane.kind !== kind || (lane.share && shares.isFull(lane.share))) continue
    if (checked >= checkedMax) break
    checked += 1
    const policy = engine.policy(kind, lane.lane)
    if (policy?.state !== 'open' || (policy.share && shares.isFull(policy.share))) continue
    // A message that its receiver refused waits for that receiver.
    if (policy.share && lane.retriedInARow > 0) continue
    const due = engine.nextDue(kind, lane.lane, policy.ordered ?? false)
    if (due !== undefined) dues.push(due)
  }
  return dues.length > 0 ? Math.min(...dues) : undefined
}

/** Whether everything that a lane of the kind sent lately has to be tried again. */
export const isFailing = ({ lanes }: State, kind: Kind): boolean =>
  [...lanes.values()].some(lane => lane.kind === kind && lane.retriedInARow >= probedAfter)

/**
 * How many attempts may begin now when no second may see more than `perSecond`, and else how long
 * until one may.
 */
function rateRoom(
  lane: Lane,
  perSecond: number | undefined,
  now: number,
): { room: number; waitMs: number } {
  if (perSecond === undefined) return { room: Number.POSITIVE_INFINITY, waitMs: 0 }
  while (lane.begunAt.length > 0 && lane.begunAt[0]! <= now - secondMs) lane.begunAt.shift()
  const room = Math.max(0, perSecond - lane.begunAt.length)
  return { room, waitMs: room > 0 ? 0 : Math.ceil(lane.begunAt[0]! + secondMs - now) }
}

/** Fails a slice of messages that may not be sent any more; false when there are more. */
function isEmptied(
  state: State,
  { kind, lane: name }: Lane,
  policy: { state: 'parked' } | { state: 'gone'; reason: string },
): boolean {
  const { engine, clock } = state
  const [before, reason] =
    policy.state === 'gone'
      ? [Number.MAX_SAFE_INTEGER, policy.reason]
      : [clock.now() - parkedMs, 'the endpoint was disabled for 30 days after the message was due']
  if (engine.giveUp(kind, name, before, reason, sliceRows) === sliceRows) return false
  const next = policy.state === 'parked' ? engine.nextDue(kind, name, false) : undefined
  // One millisecond more: a message due exactly 30 days ago still waits.
  if (next !== undefined) note(state, kind, name, next + parkedMs + 1)
  return true
}

export function recount({ lanes, inProgress, shares }: State): void {
  for (const lane of lanes.values()) lane.inFlight = 0
  shares.clear()
  for (const { lane, terms } of inProgress) {
    lane.inFlight += 1
    if (terms.share) shares.take(terms.share, 1)
  }
}

/** Forgets lanes that have nothing to do. */
export function sweep({ lanes, ready, clock }: State): void {
  for (const [key, lane] of lanes) {
    const isIdle = lane.inFlight === 0 && lane.nextAt === undefined && !ready.has(lane)
    if (isIdle && (lane.begunAt.at(-1) ?? Number.NEGATIVE_INFINITY) <= clock.monotonic() - secondMs)
      lanes.delete(key)
  }
}
