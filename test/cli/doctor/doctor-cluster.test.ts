import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { clusterFindings } from '../../../src/cli/doctor/cluster.ts'
import type { ClusterNode, StreamStatus } from '../../../src/replication/service/nodes.ts'

const node = (changed: Partial<ClusterNode>): ClusterNode => ({
  id: 'a',
  role: 'replica',
  url: 'http://10.0.0.5:8080',
  version: '1.0.0',
  isStandby: true,
  startedAt: 0,
  toldAt: 0,
  change: 10,
  lagMs: 12,
  quotas: { keys: 0, requests: 0 },
  ...changed,
})
const primary = node({ role: 'primary', url: 'http://10.0.0.4:8080', lagMs: null })
const stream: StreamStatus = {
  name: 'changes',
  messages: 1,
  bytes: 100,
  position: 1,
  leader: 'n1',
  copies: 3,
  currentReplicas: 3,
}
const lease = { epoch: 3, holder: 'x', url: 'http://10.0.0.4:8080' }
const said = (...of: Parameters<typeof clusterFindings>) =>
  clusterFindings(...of).map(({ status, found }) => [status, found])

test('doctor reports which instance is the primary and how far the replicas lag', () => {
  expect(said({ nodes: [primary, node({})], streams: [stream], lease })).toEqual([
    ['ok', 'primary http://10.0.0.4:8080, epoch 3; 1 replica, less than 1 s behind at most'],
  ])
  expect(said({ nodes: [], streams: [], lease: undefined })).toEqual([['ok', 'none runs']])
})

test('doctor warns about a missing primary, lagging replicas and under-replicated streams', () => {
  const late = node({ lagMs: 7000 })
  const unknown = node({ url: '', lagMs: null })
  const stopped = node({ id: 'b', url: '', stale: 'gap' })
  const lacking = { ...stream, currentReplicas: 2 }
  expect(said({ nodes: [late, unknown, stopped], streams: [lacking], lease })).toEqual([
    ['warning', 'no primary is running: nothing is written'],
    ['warning', 'the replica http://10.0.0.5:8080 is 7 s behind'],
    ['warning', 'the replica a has not reported its position in the stream'],
    ['warning', 'the replica b cannot follow the stream; its log says why'],
    ['warning', 'the stream changes is up to date on 2 of 3 NATS servers'],
  ])
})

test('doctor prints the check that the guide to replicas names', () => {
  const guide = resolve(import.meta.dir, '../../../docs/how-to/replicas.md')
  const [, named] = /`doctor` must print `ok` for `(\w+)`/.exec(readFileSync(guide, 'utf8'))!
  const findings = clusterFindings({ nodes: [primary, node({})], streams: [stream], lease })
  expect(findings.map(({ check }) => check)).toEqual([named!])
})
