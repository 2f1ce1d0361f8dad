import { expect, test } from 'bun:test'
import { hourMs } from '../../src/lib/time/instant.ts'
import { demoInstance } from '../support/instance/demo-instance.ts'

/** The rows and the passes of the jobs after hours of a demo instance with endpoints. */
async function after(hours: number, endpoints: number) {
  const receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response('', { status: 500 }),
  })
  const demo = demoInstance()
  const { running, clock, ask } = demo
  try {
    for (let n = 0; n < endpoints; n += 1) {
      const url = `http://127.0.0.1:${receiver.port}/${n}`
      const made = await ask('POST', '/v1/webhooks', { body: { url, events: ['price.updated'] } })
      expect(made.status).toBe(201)
    }
    for (let hour = 0; hour < hours; hour += 1)
      await running.runner.advance(clock, clock.now() + hourMs)
    const rows = running.services.db
      .query<{ n: number }, []>('SELECT count(*) AS n FROM observations')
      .get()
    const { passes } = running.runner.timings().get('demo feed')!
    const tried = running.runner.timings().get('outbox')!.passes
    return { rows: rows!.n, passes, tried }
  } finally {
    demo.remove()
    receiver.stop(true)
  }
}

test('receivers that fail cause retries, and neither other data nor more work of the other jobs', async () => {
  const { tried: _, ...alone } = await after(3, 0)
  const { tried, ...failing } = await after(3, 1)
  expect(failing).toEqual(alone)
  expect(tried).toBeGreaterThan(alone.passes)
}, 60_000)
