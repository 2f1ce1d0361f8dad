import { expect, test } from 'bun:test'
import { people } from '../../../../support/topics/people.ts'

interface Condition {
  webhooks: { host: string; state: string; consecutive_failures: number; account_email: string }[]
  deliveries: { name: string; error: string; account_email: string }[]
  feeds: unknown[]
}

test('GET /admin/v1/condition names failing and switched-off endpoints and deliveries that did not go out', async () => {
  const all = people()
  const { db } = all.services
  const { key } = all.person('ann')
  const own = `Token ${key}`
  const operator = `Bearer ${all.services.adminTokens.rotate()}`
  const condition = async () =>
    (await all.ask('GET', '/admin/v1/condition', operator)).body.data as Condition
  for (const host of ['well', 'failing', 'off']) {
    const made = await all.ask('POST', '/v1/webhooks', own, {
      url: `https://${host}.example.com/hook`,
      events: ['price.updated'],
    })
    expect({ host, status: made.status }).toEqual({ host, status: 201 })
  }
  const delivery = await all.ask('POST', '/v1/scheduled-deliveries', own, {
    name: 'Morning prices',
    commodity_codes: ['WTI_USD'],
    cadence: 'daily',
    delivery_time: '07:00',
    time_zone: 'UTC',
  })
  expect(delivery.status).toBe(201)
  const { webhooks, deliveries } = await condition()
  expect(webhooks).toEqual([])
  expect(deliveries).toEqual([])

  // The row that the outbox writes after failed deliveries.
  db.run("UPDATE webhooks SET failed_in_a_row = 3 WHERE url LIKE '%failing%'")
  db.run(
    "UPDATE webhooks SET active = 0, failed_in_a_row = 10, disabled_reason = 'failures' WHERE url LIKE '%off%'",
  )
  db.run(`INSERT INTO scheduled_delivery_runs
    (id, delivery_number, trigger, local_on, recipient, status, error, created_at)
    SELECT 'run', number, 'scheduled', '2026-01-01', 'ann@example.com', 'skipped', 'no price', 1
    FROM scheduled_deliveries`)
  const troubled = await condition()
  const rows = troubled.webhooks.map(row => [row.host, row.state, row.consecutive_failures])
  expect(rows.toSorted()).toEqual([
    ['failing.example.com', 'failing', 3],
    ['off.example.com', 'switched_off', 10],
  ])
  expect(troubled.webhooks.map(row => row.account_email)).toEqual([
    'ann@example.com',
    'ann@example.com',
  ])
  expect(troubled.deliveries).toMatchObject([
    { name: 'Morning prices', error: 'no price', account_email: 'ann@example.com' },
  ])
})
