import { afterAll, expect, test } from 'bun:test'
import { filled, remove, start, temporaryDir } from '../support/binary.ts'

const dir = temporaryDir()
afterAll(() => remove(dir))

const heavyPath = '/v1/analytics/statistics?code=WTI_USD'
const pricePath = '/v1/prices/latest?by_code=WTI_USD'

/**
 * Holds a process up again and again, as work that takes all of its loop would, until the returned
 * function is called.
 */
function holdUp(child: Bun.Subprocess): () => Promise<void> {
  let goesOn = true
  const holding = (async () => {
    while (goesOn) {
      child.kill('SIGSTOP')
      await Bun.sleep(350)
      child.kill('SIGCONT')
      await Bun.sleep(40)
    }
  })()
  return () => {
    goesOn = false
    return holding
  }
}

test('a server that is held up refuses heavy analytics after a while, goes on with prices, and computes again when it is left alone', async () => {
  const server = await start('dev', dir)
  await filled(server)
  const statuses: number[] = []
  const until = async (status: number) => {
    let response = await server.get(heavyPath)
    while (response.status !== status) {
      statuses.push(response.status)
      await Bun.sleep(100)
      response = await server.get(heavyPath)
    }
    return response
  }
  await until(200)
  statuses.length = 0
  const letGo = holdUp(server.process)
  try {
    const refused = await until(503)
    expect(refused.headers.get('retry-after')).toBe('5')
    expect((await refused.json()) as unknown).toMatchObject({ error: { code: 'OVERLOADED' } })
    // It takes more than a pause.
    expect(statuses[0]).toBe(200)
    expect((await server.get(pricePath)).status).toBe(200)
    expect((await server.get('/health')).status).toBe(200)
  } finally {
    await letGo()
  }
  await until(200)
  expect(await server.stop()).toBe(0)
  const stderr = await new Response(server.process.stderr as ReadableStream).text()
  expect(stderr.match(/(no longer )?overloaded/g)?.slice(0, 2)).toEqual([
    'overloaded',
    'no longer overloaded',
  ])
}, 120_000)
