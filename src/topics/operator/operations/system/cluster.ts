import { t } from 'elysia'
import {
  boolean,
  instant,
  integer,
  object,
  oneOf,
  orNull,
  string,
} from '../../../../http/answer/schema.ts'
import { envelope, success } from '../../../../http/operations/answer.ts'
import { type Operation, operation } from '../../../../http/operations/operation.ts'
import { isoInstant } from '../../../../lib/time/instant.ts'
import type { ClusterNode, HeldQuotas, Topology } from '../../../../replication/service/nodes.ts'

const moment = t.String({ format: 'date-time' })
const quotas = (description: string) =>
  t.Object(
    {
      keys: integer('Keys that have a quota.', 120),
      requests: integer('Requests of all of them.', 48_000),
    },
    { description },
  )

export const Cluster = envelope(
  object('Cluster', {
    is_configured: boolean('False if `nats.servers` is empty; no other fields follow.'),
    trouble: orNull(t.String(), 'Why NATS details are missing or nothing is published.'),
    state: orNull(
      oneOf(['publishing', 'connecting', 'stopped'], 'How this instance publishes its commits.'),
      'Null: nothing is published.',
    ),
    change: orNull(integer({ examples: [91_204] }), 'Newest change in the stream.'),
    backlog: orNull(integer({ examples: [0] }), 'Changes not yet in the stream.'),
    lease: orNull(
      t.Object({
        epoch: integer('Increases with each promotion to primary.', 3),
        url: orNull(t.String({ examples: ['http://10.0.0.4:8470'] }), 'Holder of the lease.'),
      }),
      'Instance that may write; null without a standby.',
    ),
    nodes: t.Array(
      object('ClusterNode', {
        id: string('Of the process.'),
        role: oneOf(['primary', 'replica']),
        url: orNull(t.String({ examples: ['http://10.0.0.5:8470'] }), 'Null: not known.'),
        is_standby: boolean('Whether it takes over when the primary fails.'),
        version: t.String({ examples: ['1.0.0'] }),
        started_at: moment,
        told_at: instant('When it last reported.'),
        change: integer('Its current change.', 91_204),
        behind: integer('Published changes that it has not applied.', 0),
        lag_ms: orNull(
          integer({ examples: [12] }),
          'Replication lag in ms; null for a primary or if unknown.',
        ),
        stale: orNull(
          oneOf(['behind', 'cannot_apply', 'gap', 'other_lineage']),
          'Why it forwards reads to the primary; null if it serves them.',
        ),
        quotas: quotas('Requests it may serve from quotas; for a primary the size of the pools.'),
      }),
      { description: 'Instances that reported in the last ten seconds, primary first.' },
    ),
    streams: t.Array(
      object('ClusterStream', {
        name: t.String({ examples: ['changes'] }),
        messages: integer('Messages in the stream.', 91_330),
        bytes: integer('Size in the stream, in bytes.', 18_240_512),
        position: integer('The last message.', 91_330),
        leader: orNull(t.String({ examples: ['n1'] }), 'Null with a single NATS server.'),
        copies: integer('Configured number of stream replicas.', 3),
        current_copies: integer('Stream replicas that are up to date.', 3),
      }),
    ),
  }),
)
export type Cluster = (typeof Cluster)['static']['data']

const quotaRow = ({ keys, requests }: HeldQuotas) => ({ keys, requests })

const nodeRow = (node: ClusterNode, published: number) => ({
  id: node.id,
  role: node.role,
  url: node.url || null,
  is_standby: node.isStandby,
  version: node.version,
  started_at: isoInstant(node.startedAt),
  told_at: isoInstant(node.toldAt),
  change: node.change,
  behind: node.role === 'primary' ? 0 : Math.max(0, published - node.change),
  lag_ms: node.lagMs,
  stale: node.stale ?? null,
  quotas: quotaRow(node.quotas),
})

const nothing: Topology = { nodes: [], streams: [], lease: undefined }

/** The running instances of this database, and the streams between them. */
export const clusterAdminOperations: readonly Operation[] = [
  operation('GET /admin/v1/cluster', {
    operationId: 'getCluster',
    summary: 'List replicas and streams',
    description:
      'Returns the instances of a cluster with `nats.servers`: the primary and its epoch, the lag and quota share of each replica, and the placement of the streams on NATS servers. A replica forwards the request to the primary.',
    access: { operator: 'service' },
    answers: { 200: Cluster },
    handle: async ({ at }) => {
      const { topology, replication } = at
      const view = replication()
      let unknown: string | undefined
      const answer = await topology()?.catch((error: Error) => {
        unknown = `NATS does not respond: ${error.message}`
        return nothing
      })
      const { nodes, streams, lease } = answer ?? nothing
      const published = view?.position ?? 0
      return success({
        is_configured: view !== undefined,
        trouble: view?.trouble ?? unknown ?? null,
        state: view?.state ?? null,
        change: view?.position ?? null,
        backlog: view?.backlog ?? null,
        lease: lease ? { epoch: lease.epoch, url: lease.url || null } : null,
        nodes: nodes.map(node => nodeRow(node, published)),
        streams: streams.map(stream => ({
          name: stream.name,
          messages: stream.messages,
          bytes: stream.bytes,
          position: stream.position,
          leader: stream.leader ?? null,
          copies: stream.copies,
          current_copies: stream.currentReplicas,
        })),
      })
    },
  }),
]
