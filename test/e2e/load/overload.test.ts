import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import {
  remove,
  type Server,
  start,
  startWith,
  temporaryDir,
} from '../../support/instance/binary.ts'
import { until } from '../../support/until.ts'

const root = temporaryDir()
afterAll(() => remove(root))

const heavyPath = '/v1/analytics/statistics?code=WTI_USD'
const pricePath = '/v1/prices/latest?by_code=WTI_USD'

const stderrOf = ({ process }: Server) => new Response(process.stderr as ReadableStream).text()

test('an overloaded server refuses heavy analytics, keeps serving prices and recovers when the load ends', async () => {
  const script = join(import.meta.dir, '../../support/servers/busy-server.ts')
  const server = await startWith(
    [process.execPath, script],
    'dev',
    join(root, 'busy'),
    '--world',
    'small',
  )
  const statuses: number[] = []
  const answered = (status: number) =>
    until(
      `analytics answer ${status}`,
      async () => {
        const response = await server.get(heavyPath)
        if (response.status === status) return response
        statuses.push(response.status)
        return undefined
      },
      180_000,
      () => `so far: ${[...new Set(statuses)].join()}`,
    )
  await answered(200)
  statuses.length = 0
  server.process.kill('SIGUSR2')
  const refused = await answered(503)
  expect(refused.headers.get('retry-after')).toBe('5')
  expect((await refused.json()) as unknown).toMatchObject({ error: { code: 'OVERLOADED' } })
  // It takes more than a pause.
  expect(statuses[0]).toBe(200)
  expect((await server.get(pricePath)).status).toBe(200)
  expect((await server.get('/health')).status).toBe(200)
  server.process.kill('SIGUSR2')
  await answered(200)
  expect(await server.stop()).toBe(0)
  expect((await stderrOf(server)).match(/overload(ed|_over)/g)?.slice(0, 2)).toEqual([
    'overloaded',
    'overload_over',
  ])
}, 600_000)

test('a server that the machine holds up refuses nothing', async () => {
  const server = await start('dev', join(root, 'held-up'), '--world', 'small')
  const statuses = new Set<number>()
  for (let i = 0; i < 20; i += 1) {
    server.process.kill('SIGSTOP')
    await Bun.sleep(350)
    server.process.kill('SIGCONT')
    statuses.add((await server.get(heavyPath)).status)
  }
  expect([...statuses]).toEqual([200])
  expect(await server.stop()).toBe(0)
  expect(await stderrOf(server)).not.toContain('overloaded')
}, 120_000)
