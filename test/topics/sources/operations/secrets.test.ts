import { expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSourceInstance, rowServer } from '../../../support/topics/sources.ts'

test('credentials are in no body, no log line and no byte of the database, whatever the source sends back', async () => {
  const canary = 'Canary.7f3a "quoted"'
  const password = 'Canary.word-9c41'
  const spellings = [canary, password].flatMap(secret => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    btoa(secret),
    Buffer.from(secret).toString('hex'),
  ])
  const all = [...spellings, btoa(`somebody:${password}`)]
  const instance = openSourceInstance()
  const bodies: string[] = []
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await instance.ask<{ data: { id: string } }>(method, path, body)
    bodies.push(answer.text)
    return answer.data
  }
  // It repeats everything in the request, as prices, as names and as the whole response.
  const echoes = [
    (sent: string) =>
      Response.json([{ timestamp: '2026-11-20', fuel_type: sent, port: sent, price: sent }]),
    (sent: string) =>
      Response.json([
        { timestamp: '2026-11-20', fuel_type: sent.slice(0, 40), port: 'SIN', price: 500 },
      ]),
    (sent: string) => new Response(sent, { status: 200 }),
    (sent: string) => new Response(sent, { status: 500, headers: { 'x-echo': sent } }),
  ]
  for (const echo of echoes) {
    const { url, requests, stop } = rowServer(request =>
      echo(request.headers.get('authorization') ?? request.headers.get('x-api-key') ?? ''),
    )
    for (const credentials of [
      { api_key: canary },
      { username: 'somebody', password },
      { token: password },
    ]) {
      const created = await ask('POST', '/v1/data-sources', {
        data_source: { name: 'x', source_type: 'api', credentials, scraper_config: { url } },
      })
      const path = `/v1/data-sources/${created.data.id}`
      await ask('POST', `${path}/test`)
      await instance.syncAll()
      await ask('PATCH', path, { data_source: { name: 'y', credentials } })
      await ask('POST', `${path}/rotate_credentials`, { credentials })
      await ask('POST', `${path}/rotate_credentials`, {
        credentials: { ...credentials, more: 5, [canary]: canary },
      })
      await ask('PATCH', path, { data_source: { credentials: canary } })
      await ask('PATCH', path, { data_source: { credentials: [canary], name: 5 } })
      await instance.syncAll()
      for (const more of ['', '/logs', '/health']) await ask('GET', path + more)
    }
    expect(requests.length).toBeGreaterThan(5)
    stop()
  }
  await ask('GET', '/v1/data-sources')
  await ask('GET', '/v1/prices/data-connector')

  const dir = mkdtempSync(join(tmpdir(), 'wellhead-canary-'))
  instance.services.db.query('VACUUM INTO ?').run(join(dir, 'copy.db'))
  const bytes = readdirSync(dir).map(name => readFileSync(join(dir, name)).toString('latin1'))
  rmSync(dir, { recursive: true })
  for (const [where, text] of [
    ['bodies', bodies.join('\n')],
    ['log', instance.log.join('\n')],
    ['database', bytes.join('\n')],
  ] as const) {
    expect(text.length).toBeGreaterThan(1000)
    expect(
      all.filter(secret => text.includes(secret)),
      where,
    ).toEqual([])
  }
  expect(bodies.join('')).toContain('[redacted]')
})
