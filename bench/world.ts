import type { Wellhead } from './server.ts'

/** Stops the feed of a demo instance, so that nothing is published while a row is measured. */
export async function pauseFeed({ port, adminToken }: Wellhead): Promise<void> {
  await fetch(`http://127.0.0.1:${port}/_dev/feed`, {
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    method: 'POST',
    body: JSON.stringify({ paused: true }),
  })
}
