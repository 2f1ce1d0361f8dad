import type { Cluster as ClusterAnswer } from '../../../topics/operator/operations/system/cluster.ts'
import { Figure, Notice, Tag } from '../../parts/bits.tsx'
import { useOperator } from '../../parts/person/operator-token.tsx'
import { useRepeated } from '../../parts/repeated.ts'
import { Table, twoLines } from '../../parts/tables/table.tsx'
import { ago, figure, number, orDash } from '../../parts/text/format.ts'
import { megabytes } from './backups.tsx'

/** A replica that is further behind is not well. */
const lagMaxMs = 5000

const count = orDash(figure)
const isBehind = ({ role, lag_ms }: ClusterAnswer['nodes'][number]) =>
  role === 'replica' && (lag_ms === null || lag_ms > lagMaxMs)

/** The running instances, how far behind they are, and the streams between them. */
export function Cluster() {
  const answer = useOperator<{ data: ClusterAnswer }>('/admin/v1/cluster')
  useRepeated(true, answer.reload)
  const cluster = answer.data?.data
  return (
    <>
      {cluster && !cluster.is_configured && (
        <Notice>
          This instance runs alone. To add replicas or a standby, set <code>nats.servers</code>.
        </Notice>
      )}
      {cluster?.trouble && <Notice mood="bad">{cluster.trouble}</Notice>}
      {cluster?.is_configured && (
        <section class="figures" aria-label="Summary">
          <Figure label="Last published change">{count(cluster.change)}</Figure>
          <Figure label="Waiting for publication">{count(cluster.backlog)}</Figure>
          <Figure label="Epoch">{count(cluster.lease?.epoch)}</Figure>
          <Figure label="Instances">{number(cluster.nodes.length)}</Figure>
        </section>
      )}
      <Table
        caption="Instances"
        of={answer}
        rows={cluster?.nodes}
        empty={
          cluster?.is_configured
            ? 'No instances reported to NATS yet; each reports every two seconds.'
            : 'No other instances.'
        }
        columns={({ column, numeric }) => [
          column('Instance', 'url', {
            fileName: 'url',
            show: ({ url, version, started_at: at }) =>
              twoLines(url ?? 'unknown address', `${version}, started ${ago(at)}`),
          }),
          column('Role', 'role', node => (
            <>
              <Tag mood={node.role === 'primary' ? 'good' : undefined}>
                {node.role === 'primary' ? 'Primary' : 'Replica'}
              </Tag>{' '}
              {node.role === 'replica' && node.is_standby && <Tag>Standby</Tag>}
            </>
          )),
          numeric('Lag', 'lag_ms', {
            fileName: 'lag_ms',
            show: node =>
              node.role === 'primary' ? (
                '–'
              ) : (
                <Tag mood={isBehind(node) ? 'bad' : undefined}>
                  {node.lag_ms === null ? 'unknown' : `${number(node.lag_ms)} ms`}
                </Tag>
              ),
          }),
          numeric('Change', 'change', { isWide: true }),
          numeric('Behind', 'behind', { isWide: true }),
          numeric('Quota requests', ({ quotas }) => quotas.requests, {
            fileName: 'quota_requests',
            isWide: true,
            show: ({ quotas, role }) =>
              twoLines(
                number(quotas.requests),
                `${role === 'primary' ? 'pooled' : 'assigned'} for ${number(quotas.keys)} keys`,
              ),
          }),
        ]}
      />
      <Table
        caption="Streams"
        of={answer}
        rows={cluster?.streams}
        empty={cluster?.is_configured ? 'No streams yet.' : 'No streams are published.'}
        columns={({ column, numeric }) => [
          column('Stream', 'name'),
          numeric('Messages', 'messages'),
          numeric('Position', 'position'),
          numeric('Size', 'bytes', {
            fileName: 'bytes',
            isWide: true,
            show: ({ bytes }) => megabytes(bytes),
          }),
          column('Replicas', 'current_copies', {
            fileName: 'current_copies',
            show: stream => (
              <Tag mood={stream.current_copies < stream.copies ? 'warn' : undefined}>
                {number(stream.current_copies)} of {number(stream.copies)}
              </Tag>
            ),
          }),
          column('Leader', 'leader', {
            isWide: true,
            className: 'quiet',
            show: ({ leader }) => leader ?? '–',
          }),
        ]}
      />
    </>
  )
}
