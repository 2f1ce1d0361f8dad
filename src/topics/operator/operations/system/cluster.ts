import { t } from 'elysia'
import { integer } from '../../../../http/answer/integer.ts'
import { envelope, success } from '../../../../http/operations/answer.ts'
import { type Operation, operation } from '../../../../http/operations/operation.ts'
import { oneOf, orNull } from '../../../../http/operations/schema.ts'
import { isoInstant } from '../../../../lib/time/instant.ts'
import type { ClusterNode, HeldQuotas, Topology } from '../../../../replication/service/nodes.ts'

const moment = t.String({ format: 'date-time' })
const quotas = (description: string) =>
  t.Object(
    {
      keys: integer({ description: 'Keys that have a quota.', examples: [120] }),
      requests: integer({ description: 'Requests of all of them.', examples: [48_000] }),
    },
    { description },
  )

const Cluster = envelope(
  t.Object(
    {
      is_configured: t.Boolean({ description: 'False: `nats.servers` is empty, and this is all.' }),
      trouble: orNull(t.String(), 'Why NATS does not say more, or nothing is published.'),
      state: orNull(
        oneOf(['publishing', 'connecting', 'stopped'], 'What this copy does with its commits.'),
        'Null: nothing is published.',
      ),
      change: orNull(
        integer({ examples: [91_204] }),
        'The change up to which the stream has everything.',
      ),
      backlog: orNull(integer({ examples: [0] }), 'Changes that are not in the stream yet.'),
      lease: orNull(
        t.Object({
          epoch: integer({
            description: 'Rises with each copy that becomes the primary.',
            examples: [3],
          }),
          url: orNull(t.String({ examples: ['http://10.0.0.4:8470'] }), 'Of who has it.'),
        }),
        'Who may write; null where there is no standby.',
      ),
      nodes: t.Array(
        t.Object(
          {
            id: t.String({ description: 'Of the process.' }),
            role: oneOf(['primary', 'replica']),
            url: orNull(t.String({ examples: ['http://10.0.0.5:8470'] }), 'Null: not known.'),
            is_standby: t.Boolean({ description: 'It takes over when the primary is gone.' }),
            version: t.String({ examples: ['1.0.0'] }),
            started_at: moment,
            told_at: t.String({ format: 'date-time', description: 'When it last said so.' }),
            change: integer({ description: 'The change that it is at.', examples: [91_204] }),
            behind: integer({
              description: 'Changes that the primary has published and it has not applied.',
              examples: [0],
            }),
            lag_ms: orNull(
              integer({ examples: [12] }),
              'How far it may be behind the stream, ms; null for a primary, and where it is not known.',
            ),
            stale: orNull(
              oneOf(['behind', 'cannot_apply', 'gap', 'other_lineage']),
              'Why it passes reads on to the primary; null: it answers them.',
            ),
            quotas: quotas('What it may answer of quotas; of a primary what lies in the pools.'),
          },
          { title: 'ClusterNode' },
        ),
        { description: 'Copies that said something in the last ten seconds, the primary first.' },
      ),
      streams: t.Array(
        t.Object(
          {
            name: t.String({ examples: ['changes'] }),
            messages: integer({
              description: 'Messages that the stream keeps.',
              examples: [91_330],
            }),
            bytes: integer({
              description: 'Size in the stream, in bytes.',
              examples: [18_240_512],
            }),
            position: integer({ description: 'The last message.', examples: [91_330] }),
            leader: orNull(t.String({ examples: ['n1'] }), 'Null where NATS is one server.'),
            copies: integer({ description: 'Servers of NATS that are to have it.', examples: [3] }),
            current_copies: integer({
              description: 'Of its copies those that have everything.',
              examples: [3],
            }),
          },
          { title: 'ClusterStream' },
        ),
      ),
    },
    { title: 'Cluster' },
  ),
)

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

/** The copies of this database that run, and what is between them. */
export const clusterAdminOperations: readonly Operation[] = [
  operation('GET /admin/v1/cluster', {
    operationId: 'getCluster',
    summary: 'Copies and streams',
    description:
      'With `nats.servers`: which copies run, which of them is the primary and with which epoch, how far each replica is behind, what of quotas each holds, and how the streams lie on the servers of NATS. A replica passes the question on to the primary.',
    access: { operator: 'service' },
    answers: { 200: Cluster },
    handle: async ({ at }) => {
      const { topology, replication } = at
      const view = replication()
      let unknown: string | undefined
      const answer = await topology()?.catch((error: Error) => {
        unknown = `NATS does not answer: ${error.message}`
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
