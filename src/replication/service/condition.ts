import { minuteMs, secondMs } from '../../lib/time/instant.ts'
import type { ClusterNode } from './nodes.ts'
import type { StaleReason } from './stale-reason.ts'
import type { ReplicationView } from './view.ts'

/** The state of a replica relative to the stream. */
export interface ReplicaView {
  /** How far it may be behind, ms; infinite before it has met the stream. */
  lagMs: number
  /** Undefined: it follows, and is not further behind than it may be. */
  stale: StaleReason | undefined
}

const staleTexts: Readonly<Record<StaleReason, string>> = {
  behind: 'The replica is further behind the primary than replica.max_lag allows.',
  cannot_apply: 'The replica cannot apply a change of the primary. Its log names the change.',
  gap: 'The stream lacks changes that the replica needs. It waits for a newer snapshot.',
  other_lineage: 'The stream has gone on from another state. The replica waits for its snapshot.',
}

/** The replication fault of this instance, as a sentence; undefined where there is none. */
export function replicationText(
  published: ReplicationView | undefined,
  replica: ReplicaView | undefined,
): string | undefined {
  if (replica?.stale) return staleTexts[replica.stale]
  return published?.fault === undefined
    ? undefined
    : 'Commits are not published to NATS, so replicas have old values. The log says why.'
}

/** A fault that is over within this needs no one. */
const briefMs = minuteMs

/** Since when a primary has failed to publish, where it is more than a moment. */
export function unpublishedSince(
  published: ReplicationView | undefined,
  now: number,
): number | undefined {
  const since = published?.faultSince
  return since !== undefined && now - since >= briefMs ? since : undefined
}

/** A replica that its operator should know about. */
export interface LateReplica {
  name: string
  stale: StaleReason
  why: string
}

/**
 * Replicas that are running and may return old data. A replica that has just started needs a
 * moment to meet the stream.
 */
export const lateReplicas = (nodes: readonly ClusterNode[]): LateReplica[] =>
  nodes.flatMap(({ role, url, id, lagMs, stale, startedAt, toldAt }) => {
    const isStarting = lagMs === null && toldAt - startedAt < briefMs
    if (role !== 'replica' || !stale || (stale === 'behind' && isStarting)) return []
    return [{ name: url || id, stale, why: lateText(stale, lagMs) }]
  })

/** The fault of a late replica, to follow its name. */
export function lateText(stale: StaleReason, lagMs: number | null): string {
  if (stale !== 'behind') return 'cannot follow the stream; its log says why'
  return lagMs === null
    ? 'has not reported its position in the stream'
    : `is ${lagText(lagMs)} behind`
}

/** A time that a replica is behind, in the one unit that all messages have. */
export const lagText = (lagMs: number): string =>
  lagMs < secondMs ? 'less than 1 s' : `${Math.round(lagMs / secondMs)} s`
