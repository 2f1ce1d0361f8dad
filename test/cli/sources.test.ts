import { describe, expect, test } from 'bun:test'
import type { CommandEnvironment } from '../../src/cli/command.ts'
import { listSources, syncSource } from '../../src/cli/sources.ts'
import { row, rowServer, sourceDesk } from '../support/sources.ts'

/**
 * A command line of the operator over an instance; `lines` and `faults` are what it printed since they
 * were last taken.
 */
function terminal(json = false) {
  const desk = sourceDesk()
  const admin = desk.services.adminTokens.rotate()
  const lines: string[] = []
  const faults: string[] = []
  const env: CommandEnvironment = {
    operator: {
      async call(method, path, body) {
        const headers = { authorization: `Bearer ${admin}` }
        const answer =
          body === undefined && method === 'GET'
            ? await desk.get(path, undefined, headers)
            : await desk.send(method, path, body, undefined, headers)
        const text = await answer.text()
        return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) }
      },
    },
    out: line => void lines.push(line),
    err: line => void faults.push(line),
    json,
  }
  return { desk, env, taken: () => lines.splice(0), faulted: () => faults.splice(0) }
}

describe('sources sync', () => {
  test('reads a source at once by name or id and prints the counts', async () => {
    const rows = rowServer(() =>
      Response.json([row, { ...row, port: 'ROTTERDAM' }, { ...row, price: null }]),
    )
    try {
      const { desk, env, taken, faulted } = terminal()
      const id = await desk.make({
        name: 'Terminal feed',
        source_type: 'api',
        scraper_config: { url: rows.url },
      })
      expect(await syncSource(env, 'terminal FEED')).toBe(0)
      expect(taken()).toEqual([
        'Terminal feed: read 3, inserted 2, revised 0, unchanged 0, rejected 1',
      ])
      expect(faulted()).toEqual([expect.stringMatching(/^sources sync: row 3: price is missing/)])
      expect(await syncSource(env, id)).toBe(0)
      expect(taken()).toEqual([
        'Terminal feed: read 3, inserted 0, revised 0, unchanged 2, rejected 1',
      ])
      expect(rows.asked).toHaveLength(2)
      const source = desk.source(id)
      expect([source.status, source.successfulSyncs, source.nextSyncAt]).toEqual([
        'active',
        2,
        desk.clock.now() + 3_600_000,
      ])
      expect(desk.services.dataSources.logs(source).map(log => log.trigger)).toEqual([
        'operator',
        'operator',
      ])
    } finally {
      rows.stop()
    }
  })

  test('of a source that can not be read says why, writes the failure down and exits with 1', async () => {
    const rows = rowServer(() => new Response('closed', { status: 503 }))
    try {
      const { desk, env, taken, faulted } = terminal()
      const id = await desk.make({
        name: 'down',
        source_type: 'api',
        scraper_config: { url: rows.url },
      })
      expect(await syncSource(env, 'down')).toBe(1)
      expect(taken()).toEqual(['down: read 0, inserted 0, revised 0, unchanged 0, rejected 0'])
      expect(faulted()).toEqual([expect.stringMatching(/^sources sync: .*503/)])
      expect([desk.source(id).status, desk.source(id).failedSyncs]).toEqual(['error', 1])
    } finally {
      rows.stop()
    }
  })

  test('of a name that several have lists them and syncs none; an id is good for one of them, whatever others are called', async () => {
    const { desk, env, faulted } = terminal()
    const first = await desk.make({
      name: 'feed',
      source_type: 'file',
      scraper_config: { path: 'a.csv' },
    })
    const second = await desk.make(
      { name: 'FEED', source_type: 'file', scraper_config: { path: 'b.csv' } },
      desk.key(),
    )
    await desk.make({ name: first, source_type: 'file', scraper_config: { path: 'c.csv' } })
    expect(await syncSource(env, 'Feed')).toBe(1)
    const told = faulted().join('\n')
    for (const part of [
      first,
      second,
      'person1@example.com',
      'person2@example.com',
      '2 data sources',
    ])
      expect(told).toContain(part)
    expect([desk.source(first).failedSyncs, desk.source(second).failedSyncs]).toEqual([0, 0])
    await syncSource(env, first)
    expect([desk.source(first).failedSyncs, desk.source(second).failedSyncs]).toEqual([1, 0])
  })

  test.each([
    ['unknown', {}, /no data source has the name or id unknown/],
    [
      'held',
      {
        name: 'held',
        source_type: 'api',
        status: 'paused',
        scraper_config: { url: 'http://127.0.0.1:1/' },
      },
      /paused/,
    ],
    [
      'pushed',
      { name: 'pushed', source_type: 'webhook', credentials: { secret: 'x'.repeat(32) } },
      /rows are pushed to it/,
    ],
  ])('of %s is refused, and nothing is written down', async (name, source, message) => {
    const { desk, env, taken, faulted } = terminal()
    const id = 'name' in source ? await desk.make(source) : undefined
    const before = id === undefined ? undefined : desk.source(id)
    expect(await syncSource(env, name)).toBe(1)
    expect(faulted().join()).toMatch(message)
    expect(taken()).toEqual([])
    if (id) expect(desk.source(id)).toEqual(before as never)
  })

  test('that is overtaken by a change of the source writes nothing and says so', async () => {
    let change = () => {}
    const rows = rowServer(() => {
      change()
      return Response.json([row])
    })
    try {
      const { desk, env, faulted } = terminal()
      const id = await desk.make({
        name: 'moved',
        source_type: 'api',
        scraper_config: { url: rows.url },
      })
      change = () =>
        void desk.services.dataSources.change(desk.source(id), {
          scraperConfig: { url: `${rows.url}?other` },
        })
      expect(await syncSource(env, 'moved')).toBe(1)
      expect(faulted()).toEqual([
        'sources sync: The data source was not synced: it was changed or deleted meanwhile.',
      ])
      expect([
        desk.source(id).successfulSyncs,
        desk.services.dataSources.newestRows(desk.source(id), 1),
      ]).toEqual([0, []])
    } finally {
      rows.stop()
    }
  })

  test('of a suspended account is refused', async () => {
    const { desk, env, faulted } = terminal()
    const id = await desk.make({
      name: 'theirs',
      source_type: 'file',
      scraper_config: { path: 'a.csv' },
    })
    const { account } = desk.services.keys.account(desk.source(id).accountId)!
    desk.services.keys.putAccount({ ...account, suspendedAt: desk.clock.now() })
    expect(await syncSource(env, 'theirs')).toBe(1)
    expect(faulted().join()).toContain('the account is suspended')
    expect(desk.services.dataSources.logs(desk.source(id))).toEqual([])
  })

  test('while the source is being synced is refused, and the sync under way ends as it would have', async () => {
    const open = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    const rows = rowServer(async () => {
      asked.resolve()
      await open.promise
      return Response.json([row])
    })
    try {
      const { desk, env, faulted } = terminal()
      const id = await desk.make({
        name: 'slow',
        source_type: 'api',
        scraper_config: { url: rows.url },
      })
      const first = syncSource(env, 'slow')
      await asked.promise
      expect(await syncSource(env, 'slow')).toBe(1)
      expect(faulted()).toEqual([
        'sources sync: The data source was not synced: it is being synced at this moment.',
      ])
      open.resolve()
      expect(await first).toBe(0)
      expect(desk.source(id).successfulSyncs).toBe(1)
    } finally {
      open.resolve()
      rows.stop()
    }
  })
})

describe('sources list', () => {
  test('prints those of all accounts, oldest first, over all pages and without what only their owners may see', async () => {
    const { desk, env, taken } = terminal()
    const at = desk.clock.now()
    for (let i = 0; i < 205; i += 1) {
      if (i % 25 === 0) desk.key()
      const account = desk.services.keys.accounts().at(-1)!
      desk.services.dataSources.create(account, {
        name: `feed ${i}`,
        sourceType: 'api',
        scraperConfig: { url: `https://example.com/private-${i}` },
      })
    }
    expect(await listSources(env)).toBe(0)
    const [head, ...lines] = taken()
    expect(head).toMatch(/^ID +NAME +TYPE +ACCOUNT +STATUS +LAST SYNC +NEXT SYNC +LAST ERROR$/)
    expect(lines.map(line => /feed \d+/.exec(line)![0])).toEqual(
      Array.from({ length: 205 }, (_, i) => `feed ${i}`),
    )
    expect(lines[0]).toContain(new Date(at).toISOString().slice(0, 19))
    expect(lines.join()).not.toContain('private')
  })

  test('prints JSON, and a name with control characters does not reach the terminal', async () => {
    const { desk, env, taken } = terminal(true)
    await desk.make({ name: 'red', source_type: 'file' })
    expect(await listSources(env)).toBe(0)
    expect(JSON.parse(taken().join('\n'))).toEqual([
      expect.objectContaining({ name: 'red', account_email: 'person1@example.com' }),
    ])
    const table = terminal()
    const account = table.desk.services.keys.accounts()[0]!
    table.desk.services.dataSources.create(account, { name: 'red\u001b[31m', sourceType: 'api' })
    await listSources(table.env)
    expect(table.taken().join('\n')).toContain('red\\u001b[31m')
  })
})
