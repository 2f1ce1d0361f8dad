import { objectIn } from '../../lib/text/json.ts'
import { every } from '../../lib/time/clock.ts'
import type { Bucket, Nats } from '../nats/connection.ts'
import type { Stored } from './foreign.ts'
import { type Lease, leaseKey, readLease } from './lease.ts'
import type { StaleReason } from './stale-reason.ts'

/** An instance that stops publishing its status is forgotten after this time. */
export const nodesTtlMs = 10_000
const announceEachMs = 2000

/** Quotas that are held: of how many keys, and requests in sum. */
export interface HeldQuotas {
  keys: number
  requests: number
}

/** The status that an instance publishes about itself. */
export interface NodeNote {
  role: 'primary' | 'replica'
  /** Where the others reach it; empty: not known. */
  url: string
  version: string
  isStandby: boolean
  /** Unix ms, by its own clock. */
  startedAt: number
  toldAt: number
  /** The change that it has reached: published by a primary, applied by a replica. */
  change: number
  /** How far it may be behind the stream, ms; null: not known, or a primary. */
  lagMs: number | null
  /** On a replica its quota slices; on a primary the pools for all. */
  quotas: HeldQuotas
  /** Why a replica may return old data; absent: it does not, or has an earlier version. */
  stale?: StaleReason | null
}

/** Parses a published status; undefined where the text is not one. */
function readNote(text: string): NodeNote | undefined {
  const note: Stored<NodeNote> = objectIn(text)
  const isNote =
    note !== undefined &&
    (note.role === 'primary' || note.role === 'replica') &&
    (['url', 'version'] as const).every(name => typeof note[name] === 'string') &&
    (['startedAt', 'toldAt', 'change'] as const).every(name => Number.isFinite(note[name])) &&
    (note.lagMs === null || Number.isFinite(note.lagMs)) &&
    typeof note.quotas === 'object' &&
    note.quotas !== null
  return isNote ? (note as NodeNote) : undefined
}

export interface ClusterNode extends NodeNote {
  id: string
}

/** The state of a stream on the NATS servers. */
export interface StreamStatus {
  name: string
  messages: number
  bytes: number
  /** The last message. */
  position: number
  /** Undefined where NATS is one server. */
  leader: string | undefined
  copies: number
  /** Stream replicas that are up to date. */
  currentReplicas: number
}

/** The running instances and the streams between them, from NATS. */
export interface Topology {
  nodes: readonly ClusterNode[]
  streams: readonly StreamStatus[]
  /** The lease holder; undefined where there is no standby. */
  lease: Lease | undefined
}

/**
 * Publishes the status of an instance every two seconds until it is stopped. A failed publication
 * is repeated.
 */
export function announceNode(bucket: Bucket, id: string, note: () => NodeNote): () => void {
  const announce = () => void bucket.put(id, JSON.stringify(note())).catch(() => undefined)
  announce()
  return every(announceEachMs, announce)
}

/** Asks NATS; throws where it does not answer. */
export async function topologyOf(nats: Nats, copies: number): Promise<Topology> {
  const { changes, prices, events, usage, nodes: nodesBucket, lease: leaseBucket } = nats.names
  const listed = new Set([changes, prices, events, usage].map(({ stream }) => stream))
  const streams: StreamStatus[] = []
  const names = new Set<string>()
  for await (const { config, state, cluster } of nats.manager.streams.list()) {
    names.add(config.name)
    if (!listed.has(config.name)) continue
    const followers = cluster?.replicas ?? []
    streams.push({
      name: config.name,
      messages: state.messages,
      bytes: state.bytes,
      position: state.last_seq,
      leader: cluster?.leader,
      copies: config.num_replicas,
      currentReplicas: 1 + followers.filter(({ current, offline }) => current && !offline).length,
    })
  }
  // Reading must not create a bucket.
  const existing = async (name: string, ttlMs: number) =>
    names.has(`KV_${name}`) ? await nats.bucket(name, copies, ttlMs) : undefined
  const nodes = (await (await existing(nodesBucket, nodesTtlMs))?.list()) ?? []
  const lease = await (await existing(leaseBucket, 0))?.get(leaseKey)
  return {
    nodes: nodes
      .flatMap(({ key, text }) => {
        const note = readNote(text)
        return note ? [{ id: key, ...note }] : []
      })
      .sort((a, b) => a.role.localeCompare(b.role) || a.url.localeCompare(b.url)),
    streams: streams.sort((a, b) => a.name.localeCompare(b.name)),
    lease: lease && readLease(lease.text),
  }
}
