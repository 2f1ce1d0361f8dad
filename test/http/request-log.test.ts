import { heapStats } from 'bun:jsc'
import { expect, test } from 'bun:test'
import { createRequestLog } from '../../src/http/request-log.ts'

const megabyte = 2 ** 20

function memoryHeld(): number {
  Bun.gc(true)
  const { heapSize, extraMemorySize } = heapStats()
  return heapSize + extraMemorySize
}

test('the log of requests keeps the beginnings of long bodies and answers, not the bodies', async () => {
  const log = createRequestLog({ requestContexts: new WeakMap(), now: () => 0, monotonic: () => 0 })
  const answer = log.noting(request => {
    log.arrive(request, { rows: request.url + 'x'.repeat(megabyte) })
    return new Response(`${request.url}${'y'.repeat(megabyte)}`, { status: 422 })
  })
  const before = memoryHeld()
  for (let i = 0; i < 40; i += 1) {
    const url = `http://localhost/v1/${i}`
    await (await answer(new Request(url, { method: 'POST' }))).text()
  }
  expect(memoryHeld() - before).toBeLessThan(10 * megabyte)
  const { requests } = log.list({}, 100)
  expect(requests).toHaveLength(40)
  for (const { body, refusal } of requests) {
    expect(body!.length).toBeLessThan(5000)
    expect(refusal!.answer.length).toBeLessThan(5000)
  }
})
