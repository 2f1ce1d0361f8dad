import type { Config } from '../../config/config.ts'
import { connectNats, natsSettings } from '../../replication/nats/connection.ts'
import { type Topology, topologyOf } from '../../replication/service/nodes.ts'
import { doubtful, type Finding, faulty, fine, reasonOf } from './finding.ts'

const lagMaxMs = 5000
const check = 'copies'

/** Asks NATS which copies run; nothing where nothing is published. */
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
        `NATS can not be asked: ${reasonOf(error)}`,
        `see that ${settings.servers.join(', ')} run with -js and can be reached from here`,
      ),
    ]
  }
}

/** What there is to say of the copies and of the streams between them. */
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
            'no primary runs: nothing is written',
            'start it, or promote one of the replicas',
          ),
        ]
      : []),
    ...late.map(node =>
      doubtful(
        check,
        `the replica ${nameOf(node)} is ${node.stale && node.stale !== 'behind' ? 'not able to follow the stream' : node.lagMs === null ? 'not known to have the stream' : `${node.lagMs} ms behind`}`,
        'see its log, and what its machine has to do',
      ),
    ),
    ...incomplete.map(({ name, copies, currentReplicas }) =>
      doubtful(
        check,
        `the stream ${name} lies whole on ${currentReplicas} of ${copies} servers of NATS`,
        'see that all of them run; one that was away catches up by itself',
      ),
    ),
  ]
  if (flags.length > 0) return flags
  if (nodes.length === 0) return [fine(check, 'none runs')]
  const lag = Math.max(0, ...replicas.map(({ lagMs }) => lagMs ?? 0))
  const epoch = lease ? `, epoch ${lease.epoch}` : ''
  const others =
    replicas.length === 0
      ? 'no replica'
      : `${replicas.length} ${replicas.length === 1 ? 'replica' : 'replicas'}, ${lag} ms behind at most`
  return [fine(check, `primary ${primaries.map(nameOf).join(' and ')}${epoch}; ${others}`)]
}
