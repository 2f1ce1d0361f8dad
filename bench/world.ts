import type { Wellhead } from './server.ts'

const worldWaitMs = 120_000

/** Waits until the invented world of an evaluation copy is laid down, then stops its feed. */
export async function wholeWorld({ port, adminToken }: Wellhead) {
  const feed = async (body?: object) => {
    const response = await fetch(`http://127.0.0.1:${port}/_dev/feed`, {
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
    return (await response.json()) as { codes_ready: number; codes_total: number }
  }
  const startedAt = performance.now()
  for (;;) {
    const { codes_ready: ready, codes_total: total } = await feed()
    if (ready >= total) break
    if (performance.now() - startedAt > worldWaitMs)
      throw new Error(`only ${ready} of ${total} codes are laid down`)
    await Bun.sleep(500)
  }
  await feed({ paused: true })
}
