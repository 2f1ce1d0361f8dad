import type { Config } from '../../config/config.ts'
import { connectNats, natsSettings } from '../../replication/nats/connection.ts'
import { lagText, lateText } from '../../replication/service/condition.ts'
import { type Topology, topologyOf } from '../../replication/service/nodes.ts'
import { doubtful, type Finding, faulty, fine, reasonOf } from './finding.ts'

const lagMaxMs = 5000
const check = 'replication'

/** Gets the running instances from NATS; returns no findings if this instance does not publish. */
export async function examineCluster({ nats: settings }: Config): Promise<readonly Finding[]> {
  if (settings.servers.length === 0) return []
  try {
    const nats = await connectNats(natsSettings(settings, 'wellhead doctor'))
    try {
      return clusterFindings(await topologyOf(nats, settings.copies))
    } finally {
      await nats.close()
    }
  } catch (error) {
    return [
      faulty(
        check,
        `cannot connect to NATS: ${reasonOf(error)}`,
        `see that ${settings.servers.join(', ')} run with -js and can be reached from here`,
      ),
    ]
  }
}

/** Findings about the instances and the streams between them. */
export function clusterFindings({ nodes, streams, lease }: Topology): readonly Finding[] {
  const incomplete = streams.filter(({ copies, currentReplicas }) => currentReplicas < copies)
  const primaries = nodes.filter(({ role }) => role === 'primary')
  const replicas = nodes.filter(({ role }) => role === 'replica')
  const late = replicas.filter(({ lagMs, stale }) => stale || lagMs === null || lagMs > lagMaxMs)
  const nameOf = ({ url, id }: { url: string; id: string }) => url || id
  const flags = [
    ...(primaries.length === 0 && replicas.length > 0
      ? [
          doubtful(
            check,
            'no primary is running: nothing is written',
            'start it, or promote a replica',
          ),
        ]
      : []),
    ...late.map(node =>
      doubtful(
        check,
        `the replica ${nameOf(node)} ${lateText(node.stale ?? 'behind', node.lagMs)}`,
        'check its log and the load of its machine',
      ),
    ),
    ...incomplete.map(({ name, copies, currentReplicas }) =>
      doubtful(
        check,
        `the stream ${name} is up to date on ${currentReplicas} of ${copies} NATS servers`,
        'check that all of them run; a returning server catches up automatically',
      ),
    ),
  ]
  if (flags.length > 0) return flags
  if (nodes.length === 0) return [fine(check, 'none runs')]
  const lagMs = Math.max(0, ...replicas.map(each => each.lagMs ?? 0))
  const epoch = lease ? `, epoch ${lease.epoch}` : ''
  const others =
    replicas.length === 0
      ? 'no replica'
      : `${replicas.length} ${replicas.length === 1 ? 'replica' : 'replicas'}, ${lagText(lagMs)} behind at most`
  return [fine(check, `primary ${primaries.map(nameOf).join(' and ')}${epoch}; ${others}`)]
}
