import { expect, test } from 'bun:test'
import { replicationAlerts } from '../../../src/instance/services/operator-alerts.ts'
import { lateReplicas } from '../../../src/replication/service/condition.ts'
import type { ClusterNode } from '../../../src/replication/service/nodes.ts'

const minute = 60_000

const node = (fields: Partial<ClusterNode>): ClusterNode => ({
  id: 'r1',
  role: 'replica',
  url: 'http://127.0.0.1:2',
  version: '1',
  isStandby: false,
  startedAt: 0,
  toldAt: 10 * minute,
  change: 1,
  lagMs: 0,
  quotas: { keys: 0, requests: 0 },
  ...fields,
})

const alertsOf = (...nodes: ClusterNode[]) =>
  replicationAlerts(
    { replication: () => undefined, lateReplicas: () => lateReplicas(nodes) },
    10 * minute,
  )

test('a replica that has just started is not reported as late, and one that stays so is', () => {
  const starting = { lagMs: null, stale: 'behind' } as const
  expect(alertsOf(node({ ...starting, toldAt: 2000 }))).toEqual([])
  expect(alertsOf(node({ ...starting, toldAt: minute }))).toEqual([
    expect.objectContaining({
      text: 'the replica http://127.0.0.1:2 has not reported its position in the stream',
    }),
  ])
  expect(alertsOf(node({ lagMs: null, stale: 'cannot_apply', toldAt: 2000 }))).toHaveLength(1)
})

test('a replica that is late for another reason begins another alert', () => {
  const [behind] = alertsOf(node({ stale: 'behind', lagMs: 5000 }))
  const [stopped] = alertsOf(node({ stale: 'cannot_apply', lagMs: 5000 }))
  expect(behind?.text).toBe('the replica http://127.0.0.1:2 is 5 s behind')
  expect(stopped?.text).toBe(
    'the replica http://127.0.0.1:2 cannot follow the stream; its log says why',
  )
  expect(stopped?.id).not.toBe(behind?.id)
})

test('a replica that follows, and a primary, are not reported', () => {
  expect(alertsOf(node({ stale: null }), node({ role: 'primary', stale: 'behind' }))).toEqual([])
})
