import { answerRow } from '../../../../http/answer/row.ts'
import { t } from '../../../../http/answer/schema.ts'
import { envelope, success } from '../../../../http/operations/answer.ts'
import { operation } from '../../../../http/operations/operation.ts'
import type { ClusterNode, HeldQuotas, Topology } from '../../../../replication/service/nodes.ts'

const moment = t.String({ format: 'date-time' })
const quotas = (description: string) =>
  t.Object(
    {
      keys: t.integer('Keys that have a quota.', 120),
      requests: t.integer('Requests of all of them.', 48_000),
    },
    { description },
  )

const Node = t.object('ClusterNode', {
  id: t.string('Of the process.'),
  role: t.oneOf(['primary', 'replica']),
  url: t.stringOrNull('Null: not known.', 'http://10.0.0.5:8470'),
  is_standby: t.boolean('Whether it takes over when the primary fails.'),
  version: t.String({ examples: ['1.0.0'] }),
  started_at: moment,
  told_at: t.instant('When it last reported.'),
  change: t.integer('Its current change.', 91_204),
  behind: t.integer('Published changes that it has not applied.', 0),
  lag_ms: t.orNull(
    t.integer({ examples: [12] }),
    'Replication lag in ms; null for a primary or if unknown.',
  ),
  stale: t.orNull(
    t.oneOf(['behind', 'cannot_apply', 'gap', 'other_lineage']),
    'Why it forwards reads to the primary; null if it serves them.',
  ),
  quotas: quotas('Requests it may serve from quotas; for a primary the size of the pools.'),
})
const Stream = t.object('ClusterStream', {
  name: t.String({ examples: ['changes'] }),
  messages: t.integer('Messages in the stream.', 91_330),
  bytes: t.integer('Size in the stream, in bytes.', 18_240_512),
  position: t.integer('The last message.', 91_330),
  leader: t.stringOrNull('Null with a single NATS server.', 'n1'),
  copies: t.integer('Configured number of stream replicas.', 3),
  current_copies: t.integer('Stream replicas that are up to date.', 3),
})

export const Cluster = envelope(
  t.object('Cluster', {
    is_configured: t.boolean('False if `nats.servers` is empty; no other fields follow.'),
    trouble: t.orNull(t.String(), 'Why NATS details are missing or nothing is published.'),
    state: t.orNull(
      t.oneOf(['publishing', 'connecting', 'stopped'], 'How this instance publishes its commits.'),
      'Null: nothing is published.',
    ),
    change: t.orNull(t.integer({ examples: [91_204] }), 'Newest change in the stream.'),
    backlog: t.orNull(t.integer({ examples: [0] }), 'Changes not yet in the stream.'),
    lease: t.orNull(
      t.Object({
        epoch: t.integer('Increases with each promotion to primary.', 3),
        url: t.stringOrNull('Holder of the lease.', 'http://10.0.0.4:8470'),
      }),
      'Instance that may write; null without a standby.',
    ),
    nodes: t.Array(Node, {
      description: 'Instances that reported in the last ten seconds, primary first.',
    }),
    streams: t.Array(Stream),
  }),
)
export type Cluster = (typeof Cluster)['static']['data']

const quotaRow = ({ keys, requests }: HeldQuotas) => ({ keys, requests })

const nodeRow = (node: ClusterNode, published: number) =>
  answerRow(Node, node, {
    url: node.url || null,
    behind: node.role === 'primary' ? 0 : Math.max(0, published - node.change),
    stale: node.stale ?? null,
    quotas: quotaRow(node.quotas),
  })

const nothing: Topology = { nodes: [], streams: [], lease: undefined }

/** The running instances of this database, and the streams between them. */
export const clusterAdminOperations = [
  operation('GET /admin/v1/cluster', {
    operationId: 'getCluster',
    summary: 'List replicas and streams',
    description:
      'Returns the instances of a cluster with `nats.servers`: the primary and its epoch, the lag and quota share of each replica, and the placement of the streams on NATS servers. A replica forwards the request to the primary.',
    access: { operator: 'service' },
    answers: Cluster,
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
        trouble: view?.fault ?? unknown ?? null,
        state: view?.state ?? null,
        change: view?.position ?? null,
        backlog: view?.backlog ?? null,
        lease: lease ? { epoch: lease.epoch, url: lease.url || null } : null,
        nodes: nodes.map(node => nodeRow(node, published)),
        streams: streams.map(stream =>
          answerRow(Stream, stream, { current_copies: stream.currentReplicas }),
        ),
      })
    },
  }),
]
